// Races: every pair of accesses to one object within a phase, for every relation of two threads.
#include "analyzer/decide/conflicts.h"
#include "analyzer/decide/race_parts.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

class RaceCheck {
public:
  explicit RaceCheck(const Check& check) : c(check), answer(Property::RaceFree), questions(check, answer) {}

  PropertyResult run() {
    for (const ModelGap& gap : c.model.gaps)
      if (gap.affectsRaces) answer.doubt(lineOf(gap.where) + ": " + gap.what);
    for (const std::string& assumption : c.model.assumptions) answer.assume(assumption);
    bool oneThread = std::all_of(std::begin(c.model.blockDim), std::end(c.model.blockDim),
                                 [](Expr e) { return !e || isConst(e, 1); });
    bool oneBlock = std::all_of(std::begin(c.model.gridDim), std::end(c.model.gridDim),
                                [](Expr e) { return !e || isConst(e, 1); });
    if (!oneThread) {
      bool hasWarpPhases = !c.model.warpPhases.empty();
      const bool hasGroups = !c.model.groups.empty();
      within(c.model.blockPhases, hasGroups       ? Relation::GroupsApart
                                  : hasWarpPhases ? Relation::DifferentWarps
                                                  : Relation::SameBlock);
      if (hasGroups) within(c.model.groupPhases, Relation::SameGroup);
      if (hasGroups && !hasWarpPhases) within(c.model.groupPhases, Relation::SameWarp);
      within(c.model.warpPhases, c.model.laneMasks.empty() ? Relation::SameWarp : Relation::LanesApart);
      within(c.model.lanePhases, Relation::SameWarp);
    }
    if (!oneBlock) betweenBlocks();
    ownCopies();
    return answer.finish();
  }

private:
  void within(const std::vector<Phase>& phases, Relation relation) {
    for (const Phase& phase : phases) {
      if (relation != Relation::DifferentBlocks && beginsAtDivergentBarrier(phase)) {
        answer.doubt(lineOf(phase.where) +
                     ": some threads miss this barrier, so nothing orders what follows it");
        for (const ModelAccess& access : phase.accesses) c.unsafe.insert(access.site);
        continue;
      }
      std::vector<RaceItem> items;
      for (const ModelAccess& access : phase.accesses) items.push_back({&access, &phase});
      pairs(items, relation);
    }
  }

  bool beginsAtDivergentBarrier(const Phase& phase) const {
    return phase.where.known() && std::any_of(c.answers.divergences.begin(), c.answers.divergences.end(),
                                              [&](const DivergenceResult& d) {
                                                return d.witness.exact() &&
                                                       d.control->barrier.line == phase.where.line &&
                                                       d.control->barrier.file == phase.where.file;
                                              });
  }

  /// A thread that does not wait for its own copy.
  void ownCopies() {
    for (const OwnCopy& own : c.model.ownCopies) {
      if (c.decider.meetsOwn(own).outcome == Verdict::Outcome::Never) continue;
      c.unsafe.insert(own.access.site);
      answer.doubt(lineOf(own.access.where) + ": whether the thread has waited for its copy in " +
                   lineOf(own.copy.where) + " is not followed");
    }
  }

  void betweenBlocks() {
    if (!c.model.gridPhases.empty()) return within(c.model.gridPhases, Relation::DifferentBlocks);
    // No phases of the grid: nothing orders the blocks, so everything meets everything.
    std::vector<RaceItem> items;
    for (const Phase& phase : c.model.blockPhases)
      for (const ModelAccess& access : phase.accesses) items.push_back({&access, &phase});
    pairs(items, Relation::DifferentBlocks);
  }

  const MemoryObject* objectOf(const ModelAccess& access) const {
    for (const MemoryObject& o : c.model.objects)
      if (o.id == access.object) return &o;
    return nullptr;
  }

  static bool isShared(const MemoryObject& o, Relation relation) {
    if (o.space == MemorySpace::Local || o.space == MemorySpace::Constant) return false;
    return o.space != MemorySpace::Shared || relation != Relation::DifferentBlocks;
  }

  void pairs(const std::vector<RaceItem>& items, Relation relation) {
    std::map<unsigned, std::vector<RaceItem>> byObject;
    std::vector<RaceItem> unknown;
    for (const RaceItem& item : items) {
      const MemoryObject* o = objectOf(*item.access);
      if (!o || !isShared(*o, relation)) continue;
      if (o->isUnknown)
        unknown.push_back(item);
      else
        byObject[o->id].push_back(item);
    }
    if (!unknown.empty()) doubtUnknown(unknown, items, relation);
    // Pairs of writes first: they are the fewest, and a race that is there mostly shows in them.
    std::vector<std::pair<RaceItem, RaceItem>> todo[3];
    for (auto& [id, list] : byObject)
      for (std::size_t i = 0; i < list.size(); ++i)
        for (std::size_t j = i; j < list.size(); ++j) {
          const ModelAccess &a = *list[i].access, &b = *list[j].access;
          if (!conflicts(a, b, relation)) continue;
          int readers = (a.kind == AccessKind::Read) + (b.kind == AccessKind::Read);
          todo[readers].emplace_back(list[i], list[j]);
        }
    for (auto& list : todo)
      for (auto& [a, b] : list)
        if (relation != Relation::DifferentBlocks)
          questions.ask(a, b, relation);
        else if (auto left = leftByArrival(a, b))
          questions.ask(left->first, left->second, relation);
  }

  /// The two where nothing orders them: none where one is done before its block counts itself in, and the
  /// other by the last block after that, or may be, which is a doubt.
  std::optional<std::pair<RaceItem, RaceItem>> leftByArrival(RaceItem a, RaceItem b) {
    using Side = ArrivalPlace::Side;
    for (const ArrivalPlace& x : a.access->arrivals)
      for (const ArrivalPlace& y : b.access->arrivals) {
        if (x.counter != y.counter || (x.side != Side::After && y.side != Side::After)) continue;
        if ((x.needsFence && !y.hasFence) || (y.needsFence && !x.hasFence)) continue;
        if (x.side == Side::Before || y.side == Side::Before) return {};
        if (x.side == Side::OfThread) return std::pair(narrowed(a, x.isOther), b);
        if (y.side == Side::OfThread) return std::pair(a, narrowed(b, y.isOther));
        if (x.side != Side::Unclear && y.side != Side::Unclear) continue;
        answer.doubt(pairName(a, b) + ": whether a fence orders these is not followed");
        c.answers.unfollowed.emplace_back(a.access, b.access);
        c.unsafe.insert(a.access->site);
        c.unsafe.insert(b.access->site);
        return {};
      }
    return std::pair(a, b);
  }

  RaceItem narrowed(const RaceItem& item, Expr condition) {
    ModelAccess& made = c.answers.narrowed->emplace_back(*item.access);
    made.condition = c.decider.view().context.logicalAnd(made.condition, condition);
    return {&made, item.phase};
  }

  /// Accesses through a pointer that could not be followed may meet any other of global memory, and of shared
  /// memory whose address has been lost sight of.
  void doubtUnknown(const std::vector<RaceItem>& unknown, const std::vector<RaceItem>& all,
                    Relation relation) {
    for (const RaceItem& item : unknown)
      for (const RaceItem& other : all) {
        const MemoryObject* o = objectOf(*other.access);
        if (!o || !isShared(*o, relation) || (o->space == MemorySpace::Shared && !o->escapes)) continue;
        if (!conflicts(*item.access, *other.access, relation)) continue;
        answer.doubt(lineOf(item.access->where) + ": an access through a pointer that could not be followed");
        c.unsafe.insert(item.access->site);
        c.unsafe.insert(other.access->site);
      }
  }

  Check c;
  PropertyAnswer answer;
  RaceQuestions questions;
};

} // namespace

PropertyResult checkRaces(Check check) { return RaceCheck(check).run(); }

} // namespace kcheck::analyzer
