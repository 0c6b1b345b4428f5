// Races: every pair of accesses to one object within a phase, for every relation of two threads.
#include "analyzer/decide/checks.h"
#include "analyzer/decide/conflicts.h"
#include "analyzer/decide/variants.h"
#include "report/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

namespace kcheck::analyzer {

namespace {

struct Item {
  const ModelAccess* access;
  const Phase* phase;
};

class RaceCheck {
public:
  explicit RaceCheck(const Check& check)
      : c(check), answer(Property::RaceFree), variants(check.decider, check.model) {}

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
      std::vector<Item> items;
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
    std::vector<Item> items;
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

  void pairs(const std::vector<Item>& items, Relation relation) {
    std::map<unsigned, std::vector<Item>> byObject;
    std::vector<Item> unknown;
    for (const Item& item : items) {
      const MemoryObject* o = objectOf(*item.access);
      if (!o || !isShared(*o, relation)) continue;
      if (o->isUnknown)
        unknown.push_back(item);
      else
        byObject[o->id].push_back(item);
    }
    if (!unknown.empty()) doubtUnknown(unknown, items, relation);
    // Pairs of writes first: they are the fewest, and a race that is there mostly shows in them.
    std::vector<std::pair<Item, Item>> todo[3];
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
          ask(a, b, relation);
        else if (auto left = leftByArrival(a, b))
          ask(left->first, left->second, relation);
  }

  /// The two where nothing orders them: none where one is done before its block counts itself in, and the
  /// other by the last block after that, or may be, which is a doubt.
  std::optional<std::pair<Item, Item>> leftByArrival(Item a, Item b) {
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

  Item narrowed(const Item& item, Expr condition) {
    ModelAccess& made = c.answers.narrowed->emplace_back(*item.access);
    made.condition = c.decider.view().context.logicalAnd(made.condition, condition);
    return {&made, item.phase};
  }

  /// Accesses through a pointer that could not be followed may meet any other of global memory, and of shared
  /// memory whose address has been lost sight of.
  void doubtUnknown(const std::vector<Item>& unknown, const std::vector<Item>& all, Relation relation) {
    for (const Item& item : unknown)
      for (const Item& other : all) {
        const MemoryObject* o = objectOf(*other.access);
        if (!o || !isShared(*o, relation) || (o->space == MemorySpace::Shared && !o->escapes)) continue;
        if (!conflicts(*item.access, *other.access, relation)) continue;
        answer.doubt(lineOf(item.access->where) + ": an access through a pointer that could not be followed");
        c.unsafe.insert(item.access->site);
        c.unsafe.insert(other.access->site);
      }
  }

  using Key = std::tuple<Expr, Expr, Expr, Expr, Expr, Expr, Relation, bool>;
  static bool bothLocked(const Item& a, const Item& b) {
    return !a.access->locks.empty() && !b.access->locks.empty();
  }
  static Key keyOf(const Item& a, const Item& b, Relation relation) {
    return {a.access->offset,    a.access->size, a.access->condition, b.access->offset, b.access->size,
            b.access->condition, relation,       bothLocked(a, b)};
  }

  void ask(const Item& a, const Item& b, Relation relation) {
    bool exchanged = a.access->kind == AccessKind::Read;
    const Item &first = exchanged ? b : a, &second = exchanged ? a : b;
    if (c.limits.proofOnly && answer.isOpen()) {
      c.unsafe.insert(first.access->site);
      c.unsafe.insert(second.access->site);
      return;
    }
    auto sites = std::make_tuple(std::min(first.access->site, second.access->site),
                                 std::max(first.access->site, second.access->site),
                                 relation == Relation::DifferentBlocks, first.access->object);
    if (first.access->site != kNoSite && found[sites] >= c.limits.findingsPerSitePair) {
      // Of one within a warp it is worth knowing whether others, from further rounds, meet across warps.
      const auto left = widerToAsk.find(sites);
      if (relation != Relation::SameBlock || left == widerToAsk.end() || left->second == 0) return;
      --left->second;
      relation = Relation::DifferentWarps;
    }
    if (bothLocked(first, second)) cache.erase(keyOf(first, second, relation)); // it depends on which locks
    auto [entry, isNew] = cache.try_emplace(keyOf(first, second, relation));
    if (isNew) {
      if (c.decider.secondsLeft() <= 0)
        entry->second.reason = "the time for this kernel is used up";
      else
        entry->second = c.decider.meet({first.access, second.access, relation});
    }
    if (isNew && entry->second.outcome == Verdict::Outcome::Happens)
      takeCommonOne(first, second, relation, entry->second);
    const Verdict& verdict = entry->second;
    if (verdict.outcome == Verdict::Outcome::Never) {
      if (verdict.assumesNoWrap) assumeNoWrap(*first.access, *second.access);
      return;
    }
    c.unsafe.insert(first.access->site);
    c.unsafe.insert(second.access->site);
    if (verdict.outcome == Verdict::Outcome::Unknown) {
      answer.doubt(pairName(first, second) + ": " + verdict.reason);
      return;
    }
    if (bothReach(*first.access, *second.access, relation)) { // of different sizes
      answer.doubt(pairName(first, second) + ": atomic operations of different sizes meet");
      return;
    }
    report(first, second, relation, verdict);
    const RaceResult& race = c.answers.races.back();
    if (!race.witness.exact() || race.sameValue) return;
    ++found[sites];
    constexpr unsigned kMostWider = 128;
    widerToAsk.erase(sites);
    if (relation == Relation::SameBlock && race.scope == RaceScope::IntraWarp) widerToAsk[sites] = kMostWider;
  }

  /// Integer parameters that are negative in a witness.
  static std::vector<Expr> negativeParameters(const Verdict& verdict) {
    std::vector<Expr> result;
    for (Expr constraint : verdict.constraints)
      anyNode(constraint, [&](Expr n) {
        if (n->op == Op::Symbol && n->symbol->kind == SymbolKind::Parameter && n->width >= 32 &&
            n->symbol->lo < 0 && signExtend(verdict.values.of(n->symbol), n->width) < 0 &&
            std::find(result.begin(), result.end(), n) == result.end())
          result.push_back(n);
        return false;
      });
    std::sort(result.begin(), result.end(), [](Expr x, Expr y) { return x->id < y->id; });
    return result;
  }

  /// A witness with a negative size or place mostly shows a launch that nobody means. What counts is whether
  /// there is another one; where there is none, that is an assumption.
  void takeCommonOne(const Item& a, const Item& b, Relation relation, Verdict& verdict) {
    constexpr int kMostRounds = 3; // other parameters may turn negative
    ExprContext& context = c.decider.view().context;
    Expr wanted = context.boolean(true);
    std::vector<std::string> assumptions;
    const Verdict first = verdict;
    for (int round = 0; round < kMostRounds && verdict.outcome == Verdict::Outcome::Happens; ++round) {
      const auto negative = negativeParameters(verdict);
      if (negative.empty()) return;
      for (Expr n : negative) {
        assumptions.push_back(notNegative(n->symbol->name));
        wanted = context.logicalAnd(wanted, context.binary(Op::Sle, context.constant(n->width, 0), n));
      }
      bool isPossible = true;
      auto asWanted = [&](const ModelAccess& access) {
        const ModelAccess* made = variants.where(access, wanted);
        Ranges ranges(Ranges::Wrapping::Exact);
        isPossible = isPossible && ranges.assume(made->condition);
        return made;
      };
      const ModelAccess *x = asWanted(*a.access), *y = asWanted(*b.access);
      if (!isPossible) { // it is for negative ones that the kernel does this
        verdict = first;
        return;
      }
      verdict = c.decider.meet({x, y, relation});
    }
    if (verdict.outcome == Verdict::Outcome::Never)
      for (const std::string& text : assumptions) answer.assume(text);
  }

  /// A witness that leans on something may have one beside it, in the first rounds of all loops, that does
  /// not.
  void takeFirstRounds(const Item& a, const Item& b, Relation relation, Verdict& verdict) {
    const ModelAccess *x = variants.inFirstRounds(*a.access, Rounds::First),
                      *y = variants.inFirstRounds(*b.access, Rounds::First);
    if (!x && !y) return;
    Verdict first = c.decider.meet({x ? x : a.access, y ? y : b.access, relation});
    if (first.outcome == Verdict::Outcome::Happens && c.decider.isExact(first)) verdict = std::move(first);
  }

  static std::string pairName(const Item& a, const Item& b) {
    std::string first = lineOf(a.access->where), second = lineOf(b.access->where);
    return first == second ? first : first + " against " + second;
  }

  void assumeNoWrap(const ModelAccess& a, const ModelAccess& b) {
    bool named = false;
    for (const ModelAccess* access : {&a, &b})
      for (const std::string& text : c.decider.wrapAssumptions(*access)) {
        answer.assume(text);
        named = true;
      }
    if (!named) answer.assume("integer arithmetic that bounds the kernel's loops does not wrap");
  }

  void report(const Item& a, const Item& b, Relation relation, const Verdict& verdict) {
    RaceResult race;
    race.first = a.access;
    race.second = b.access;
    race.phase = a.phase;
    race.object = a.access->object;
    race.kind = raceKindOf(*a.access, *b.access);
    race.scopeTooNarrow = a.access->kind == AccessKind::Atomic && b.access->kind == AccessKind::Atomic;
    Verdict best = verdict;
    std::optional<Cause> shuffled;
    if (!c.decider.isExact(best)) takeFirstRounds(a, b, relation, best);
    if (race.kind == RaceKind::WriteWrite) race.sameValue = writesSameValue(a, b, relation, best, shuffled);
    race.scope = c.decider.scopeOf(best.values, relation);
    if (relation == Relation::SameBlock && race.scope == RaceScope::IntraWarp && !race.sameValue) {
      // Threads of different warps make the plainer example, where there are some.
      Verdict wider = c.decider.meet({a.access, b.access, Relation::DifferentWarps});
      if (wider.outcome == Verdict::Outcome::Happens) {
        race.scope = RaceScope::InterWarp;
        Witness w = c.decider.witness(wider, *a.access, b.access, Relation::DifferentWarps);
        if (w.exact()) {
          race.witness = std::move(w);
          return finish(race, a, b, relation);
        }
      }
    }
    race.witness = c.decider.witness(best, *a.access, b.access, relation);
    if (shuffled && race.scope == RaceScope::IntraWarp)
      race.witness.causes.push_back(
          {CauseKind::Approximation, "other values in one lane: " + shuffled->text});
    if (!race.sameValue &&
        (race.witness.leansOn(CauseKind::Order) || race.witness.leansOn(CauseKind::Warp))) {
      std::vector<Cause> causes = race.witness.causes;
      Relation between = relation;
      auto next = variants.comeInOrder({a.access, b.access, between}, causes);
      race.scope = next ? c.decider.scopeOf(next->values, between) : race.scope;
      if (next && relation == Relation::SameBlock && race.scope == RaceScope::IntraWarp) {
        std::vector<Cause> ofWider = race.witness.causes;
        if (auto wider = variants.comeInOrder({a.access, b.access, Relation::DifferentWarps}, ofWider)) {
          race.scope = RaceScope::InterWarp;
          between = Relation::DifferentWarps;
          next = std::move(wider);
          causes = std::move(ofWider);
        }
      }
      if (next) {
        race.inSequence = true;
        race.witness = c.decider.witness(*next, *a.access, b.access, between);
        race.witness.causes = std::move(causes);
      }
    }
    finish(race, a, b, relation);
  }

  void finish(RaceResult& race, const Item& a, const Item& b, Relation relation) {
    if (race.witness.exact() && !race.sameValue) askForPromises(race, a, b, relation);
    // The same value from several threads does no harm on any machine, but the language calls it a race.
    if (race.sameValue)
      answer.doubt(lineOf(race.first->where) + ": several threads write the same value without order");
    else if (race.witness.exact())
      answer.refute();
    else
      answer.doubt(pairName(a, b) + ": a possible race that leans on " + race.witness.causes.front().text);
    c.answers.races.push_back(std::move(race));
  }

  /// The array whose elements decide: where they are as promised, there is no such race.
  std::optional<unsigned> heldBy(Promise promise, const Item& a, const Item& b, Relation relation) {
    std::set<unsigned> arrays;
    const ModelAccess *x = variants.underPromise(*a.access, promise, arrays),
                      *y = variants.underPromise(*b.access, promise, arrays);
    if (!x && !y) return {};
    const Verdict held = c.decider.meet({x ? x : a.access, y ? y : b.access, relation});
    return held.outcome == Verdict::Outcome::Never ? std::optional(*arrays.begin()) : std::nullopt;
  }

  /// Rows of a sparse matrix, runs in a sorted list: hardly anybody means a kernel that takes its places
  /// from where something begins and ends for arrays that do not ascend. Equal places to scatter to are what
  /// many overlook.
  void askForPromises(RaceResult& race, const Item& a, const Item& b, Relation relation) {
    const auto ascending = heldBy(Promise::Ascending, a, b, relation);
    if (!ascending) {
      if (const auto distinct = heldBy(Promise::Distinct, a, b, relation))
        race.distinct = c.model.objects[*distinct].name;
      return;
    }
    race.ascending = c.model.objects[*ascending].name;
    const auto isElement = [&](Expr n) {
      if (n->op != Op::Apply) return false;
      const auto content = c.model.contents.find(n->function);
      return content != c.model.contents.end() && content->second == *ascending;
    };
    if (anyNode(a.access->offset, isElement) || anyNode(b.access->offset, isElement))
      race.witness.causes.push_back(
          {CauseKind::AnyInput, fmt::format("elements of `{}` that do not ascend", race.ascending)});
  }

  /// Whether both always store the same; otherwise `best` becomes a witness in which they differ, unless that
  /// would lean on approximations where it does not yet. Whether lanes differ in what they have shuffled is
  /// not known: then `shuffled` is why.
  bool writesSameValue(const Item& a, const Item& b, Relation relation, Verdict& best,
                       std::optional<Cause>& shuffled) {
    Expr x = a.access->stored, y = b.access->stored;
    if (!x || !y || x->width != y->width) return false;
    if (x == y && !c.decider.view().isPrivate(x, relation)) return true;
    Verdict differ = c.decider.meetWithDifferentValues({a.access, b.access, relation});
    if (differ.outcome == Verdict::Outcome::Never) return !differ.assumesNoWrap;
    if (differ.outcome == Verdict::Outcome::Happens &&
        (c.decider.isExact(differ) || !c.decider.isExact(best))) {
      best = std::move(differ);
    } else if (differ.outcome == Verdict::Outcome::Happens) {
      for (Cause& cause : c.decider.witness(differ, *a.access, b.access, relation).causes)
        if (cause.kind == CauseKind::Warp) shuffled = std::move(cause);
    }
    return false;
  }

  Check c;
  PropertyAnswer answer;
  std::map<Key, Verdict> cache;
  AccessVariants variants;
  std::map<std::tuple<SiteId, SiteId, bool, unsigned>, unsigned> found,
      widerToAsk; ///< of those found within a warp alone: how often a wider one is yet looked for
};

} // namespace

PropertyResult checkRaces(Check check) { return RaceCheck(check).run(); }

} // namespace kcheck::analyzer
