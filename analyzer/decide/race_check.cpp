// Races: every pair of accesses to one object within a phase, for every relation of two threads.
#include "analyzer/decide/conflicts.h"
#include "analyzer/decide/race_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

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
      c.answers.unfollowed.emplace_back(&own.copy, &own.access);
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

  /// In the order in which they are asked for. Those of shared memory first, whose places seldom hang on
  /// numbers that the kernel gets. Then pairs of writes: they are the fewest, and a race that is there mostly
  /// shows in them.
  using OrderedPairs = std::array<std::vector<std::pair<RaceItem, RaceItem>>, 6>;

  void addPair(OrderedPairs& todo, const RaceItem& a, const RaceItem& b) const {
    const auto isRead = [](const RaceItem& item) {
      return std::size_t{item.access->kind == AccessKind::Read};
    };
    const bool isShared = objectOf(*a.access)->space == MemorySpace::Shared;
    todo[isRead(a) + isRead(b) + (isShared ? 0 : 3)].emplace_back(a, b);
  }

  /// Accesses to arrays that may be one, for all that the kernel asks itself: those to the second as to the
  /// first.
  void addPairsOfOne(const OneArray& one, std::map<unsigned, std::vector<RaceItem>>& byObject,
                     Relation relation, OrderedPairs& todo) {
    const std::vector<RaceItem>&firsts = byObject[one.first], &seconds = byObject[one.second];
    std::map<const ModelAccess*, RaceItem> known;
    const auto placed = [&](const RaceItem& item) {
      const auto [entry, isNew] = known.try_emplace(item.access, item);
      if (isNew && (one.firstStart || item.access->object == one.second)) entry->second = moved(item, one);
      return entry->second;
    };
    for (const RaceItem& first : firsts)
      for (const RaceItem& second : seconds) {
        if (!conflicts(*first.access, *second.access, relation)) continue;
        if (one.distance)
          addPair(todo, placed(first), placed(second));
        else
          doubtOne(first, second);
      }
  }

  /// As an access to the first of the two arrays, where they are one.
  RaceItem moved(const RaceItem& item, const OneArray& one) {
    ExprContext& context = c.decider.view().context;
    const RaceItem result = narrowed(item, one.isOne);
    ModelAccess& made = c.answers.narrowed->back();
    if (made.object == one.second) made.offset = context.add(made.offset, one.distance);
    made.object = one.first;
    if (!one.firstStart) return result;
    // Somewhere in memory, far from the ends of it.
    Expr start = context.constant(64, std::int64_t(1) << 40);
    Substitution lying(context);
    lying.set(one.firstStart, start);
    lying.set(one.secondStart, context.add(start, one.distance, NoSignedWrap));
    made.condition = lying(made.condition);
    made.offset = lying(made.offset);
    return result;
  }

  void doubtOne(const RaceItem& a, const RaceItem& b) {
    answer.doubt(pairName(a, b) + ": how far apart `" + objectOf(*a.access)->name + "` and `" +
                 objectOf(*b.access)->name + "` lie is not followed");
    c.unsafe.insert(a.access->site);
    c.unsafe.insert(b.access->site);
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
    OrderedPairs todo;
    for (auto& [id, list] : byObject)
      for (std::size_t i = 0; i < list.size(); ++i)
        for (std::size_t j = i; j < list.size(); ++j)
          if (conflicts(*list[i].access, *list[j].access, relation)) addPair(todo, list[i], list[j]);
    for (const OneArray& one : c.model.mayBeOne) addPairsOfOne(one, byObject, relation, todo);
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
        if (x.side == Side::Before || y.side == Side::Before) {
          if (!x.row) return {};
          // Nothing orders two rows.
          const Expr isInRow = inSomeRow(x.row);
          a = narrowed(a, isInRow);
          b = narrowed(b, c.decider.view().context.logicalNot(isInRow));
          continue;
        }
        if (x.row) continue;
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

  /// That the thread's block is in the row, whichever it is, that the solver looks at.
  Expr inSomeRow(RowAxes row) {
    ExprContext& exprs = c.decider.view().context;
    Expr result = exprs.boolean(true);
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (!isApart(row, axis)) continue;
      Symbol* index = exprs.symbol(fmt::format("the row's blockIdx.{}", "xyz"[axis]), 32, SymbolKind::Unknown,
                                   0, INT32_MAX);
      result = exprs.logicalAnd(result, exprs.eq(c.model.blockIdx[axis], exprs.of(index)));
    }
    return result;
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
