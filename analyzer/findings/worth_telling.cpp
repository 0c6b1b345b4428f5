#include "analyzer/findings/worth_telling.h"

#include "analyzer/decide/conflicts.h"
#include "analyzer/findings/parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace kcheck::analyzer {

bool samePlace(const Location& a, const Location& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

bool isOrderedWithinBlocksOnly(const RaceResult& race, const KernelModel& model) {
  if (race.scope != RaceScope::InterBlock) return false;
  for (const ModelAccess* access : {race.first, race.second})
    for (const Cause& cause : causesOf(access->offset))
      if (cause.kind == CauseKind::Order || cause.kind == CauseKind::Warp) return false;
  const auto reachesFurther = [&](const ModelAccess& access) {
    return (access.kind == AccessKind::Atomic || access.isVolatile) &&
           model.objects[access.object].space != MemorySpace::Shared;
  };
  return std::ranges::none_of(model.gridPhases, [&](const Phase& phase) {
    return std::ranges::any_of(phase.accesses, reachesFurther);
  });
}

/// Whether one thread may do its access before a fence, and the other its own after one: then what a loop
/// waits for can order them.
static bool fencesMayOrder(const RaceResult& race) {
  const AtomicScope needed = race.scope == RaceScope::InterBlock ? AtomicScope::Device : AtomicScope::Block;
  auto goesFirst = [&](const ModelAccess& before, const ModelAccess& after) {
    return before.fenceAfter >= needed && after.fenceBefore >= needed;
  };
  return goesFirst(*race.first, *race.second) || goesFirst(*race.second, *race.first);
}

/// Whether all that a warp's operations say of the two threads is how the lanes of each vote and whom they
/// elect: of threads in different warps, any may be.
static bool areElectedApart(const RaceResult& race) {
  if (race.scope == RaceScope::IntraWarp) return false;
  const auto isOfWarp = [](const Cause& cause) { return cause.kind == CauseKind::Warp; };
  for (const ModelAccess* access : {race.first, race.second}) {
    if (std::ranges::any_of(causesOf(access->offset), isOfWarp)) return false;
    if (anyNode(access->condition, [&](Expr n) {
          if (n->op == Op::Symbol) return !n->symbol->exact && isOfWarp(n->symbol->cause);
          return n->op == Op::Apply && !n->function->exact && isOfWarp(n->function->cause) &&
                 !n->function->isLeader && !n->function->isBallot;
        }))
      return false;
  }
  return true;
}

/// A flag that is set behind a fence, and that a thread of another block looks at: what that one finds tells
/// it whether to go on.
static bool isFenceFlag(const RaceResult& race) {
  const bool isSet = race.first->stores() != race.second->stores();
  const ModelAccess& set = race.first->stores() ? *race.first : *race.second;
  return race.scope == RaceScope::InterBlock && isSet && set.fenceBefore >= AtomicScope::Device &&
         isStrong(*race.first, Relation::DifferentBlocks) &&
         isStrong(*race.second, Relation::DifferentBlocks);
}

bool mayBeOrdered(const RaceResult& race, const FindingContext& context) {
  if (race.scopeTooNarrow) return false;
  if (context.model.ordersByPtx) return true;
  if (isOrderedWithinBlocksOnly(race, context.model) && !race.witness.leansOn(CauseKind::Warp)) return false;
  // A flag: one thread looks at it until another has set it.
  if (areFlagAndPoll(*race.first, *race.second,
                     race.scope == RaceScope::InterBlock ? Relation::DifferentBlocks : Relation::SameBlock))
    return true;
  // Where threads wait in a loop, a volatile place that one statement writes and another reads may be the
  // flag.
  const ModelAccess& write = race.first->kind == AccessKind::Read ? *race.second : *race.first;
  const bool setsFlag = write.stored && isConst(write.stored); // also on the line of those who wait for it
  const bool isUpdate =
      (race.first->where.line == race.second->where.line && !setsFlag) || race.scope == RaceScope::IntraWarp;
  if (!isUpdate && isFenceFlag(race)) return true;
  const bool bothWrite = race.first->kind != AccessKind::Read && race.second->kind != AccessKind::Read;
  const bool bothVolatile = race.first->isVolatile && race.second->isVolatile;
  if (context.model.waits && bothVolatile && !isUpdate && !bothWrite) return true;
  if (race.witness.leansOn(CauseKind::Wait) && fencesMayOrder(race)) return true;
  return race.witness.leansOn(CauseKind::Order) ||
         (race.witness.leansOn(CauseKind::Warp) && !areElectedApart(race));
}

static bool isContent(Expr n) { return n->op == Op::Apply; }

/// Whether something that memory holds is a bound of the index: `for (i = 0; i < count[0]; ++i) s[i] = 0`.
static bool isBoundByContent(const ModelAccess& access) {
  if (!access.condition) return false;
  const auto moves = [&](Expr side) {
    return anyNode(side, [&](Expr n) {
      return n->op == Op::Symbol && anyNode(access.offset, [&](Expr part) { return part == n; });
    });
  };
  return anyNode(access.condition, [&](Expr n) {
    const bool compares = n->op == Op::Slt || n->op == Op::Sle || n->op == Op::Ult || n->op == Op::Ule;
    if (!compares) return false;
    const Expr a = n->operands[0], b = n->operands[1];
    const bool ofFirst = anyNode(a, isContent), ofSecond = anyNode(b, isContent);
    return ofFirst != ofSecond && moves(ofFirst ? b : a);
  });
}

bool followsContent(const ModelAccess& access) {
  return anyNode(access.offset, isContent) || !causesOf(access.offset).empty() ||
         (access.size && anyNode(access.size, isContent)) || isBoundByContent(access);
}

namespace {

/// What loops add up to a place, and whether some of it is what the kernel has computed into memory (what the
/// warps before have counted, each at its place). Conditions only say in which rounds they do.
class AddedUp {
public:
  explicit AddedUp(const KernelModel& model) : model(model) {}

  bool isOfContent(Expr offset) {
    return anyNode(offset, [&](Expr n) {
      if (n->op != Op::Symbol || n->symbol->cause.kind != CauseKind::Loop) return false;
      const auto made = model.madeFrom.find(n->symbol);
      return made != model.madeFrom.end() &&
             std::ranges::any_of(made->second, [&](Expr part) { return leadsToContent(part); });
    });
  }

private:
  /// By a summand: what is only found there and gone on with (`v = parent[v]`) adds up to nothing.
  bool leadsToContent(Expr n, bool isSummand = false) {
    if (n->width == 1 || !seen.insert({n, isSummand}).second) return false;
    if (n->op == Op::Symbol) {
      if (!n->symbol->exact && n->symbol->cause.kind == CauseKind::Content) return isSummand;
      const auto made = model.madeFrom.find(n->symbol);
      return made != model.madeFrom.end() &&
             std::ranges::any_of(made->second, [&](Expr part) { return leadsToContent(part, isSummand); });
    }
    if (n->op == Op::Apply)
      return isSummand && !n->function->exact && n->function->cause.kind == CauseKind::Content;
    const bool isSum = isSummand || n->op == Op::Add;
    return std::ranges::any_of(n->operands, [&](Expr part) { return leadsToContent(part, isSum); });
  }

  const KernelModel& model;
  std::set<std::pair<Expr, bool>> seen;
};

/// A witness that chooses what the kernel has computed into memory says little: it is no finding when an
/// address rests on it, or when that memory itself is raced for.
bool leansOnComputedContent(const RaceResult& race, const std::set<std::string>& raced,
                            const FindingContext& context) {
  if (race.witness.exact()) return false;
  auto isCount = [&](const Cause& cause) { // of no more threads than there are
    const auto isOf = [&](const auto& count) { return count.first->cause == cause; };
    return std::ranges::any_of(context.model.counts, isOf) ||
           std::ranges::any_of(context.model.countsOfRounds, isOf);
  };
  auto isComputed = [&](const Cause& cause) {
    return cause.kind == CauseKind::Content && !(race.inSequence && isCount(cause));
  };
  for (const ModelAccess* access : {race.first, race.second})
    for (const Cause& cause : causesOf(access->offset))
      if (isComputed(cause)) return true;
  AddedUp sums(context.model);
  if (sums.isOfContent(race.first->offset) || sums.isOfContent(race.second->offset)) return true;
  // Where memory is raced for, what is computed into memory may be a consequence.
  return !raced.empty() && std::any_of(race.witness.causes.begin(), race.witness.causes.end(), isComputed);
}

/// Where the program says so. A template has a site of its own in each of its instances, which a reader sees
/// as one.
using SourceSite = std::tuple<Location, std::string, bool, SiteId>;

SourceSite sourceSiteOf(const ModelAccess& access, const FindingContext& context) {
  if (access.site == kNoSite || !access.where.known()) return {{}, {}, false, access.site};
  return {access.where, exprOf(access, context), access.stores(), kNoSite};
}

/// Both accesses are inside a library's functions. What the model bends of CUB's own indexing is no news to
/// its user; the run looks at the real one.
bool isWithinLibrary(const RaceResult& race) { return race.first->inLibrary && race.second->inLibrary; }

} // namespace

RacePairs racesToTell(const KernelAnswers& answers, const FindingContext& context) {
  bool partedBarrier =
      std::any_of(answers.divergences.begin(), answers.divergences.end(), [](const DivergenceResult& d) {
        return d.witness.exact() && !d.control->othersExit && d.control->reach == BarrierReach::Block;
      });
  std::set<std::string> raced;
  for (const RaceResult& race : answers.races)
    if (race.witness.exact() && !race.sameValue) raced.insert(context.model.objects[race.object].name);
  std::map<std::pair<SourceSite, SourceSite>, std::size_t> known;
  RacePairs pairs;
  for (const RaceResult& race : answers.races) {
    if (mayBeOrdered(race, context) || leansOnComputedContent(race, raced, context)) continue;
    if (!race.witness.exact() && isWithinLibrary(race)) continue;
    // What is between barriers is not known where threads miss one.
    if (partedBarrier && race.scope != RaceScope::InterBlock) continue;
    const SourceSite first = sourceSiteOf(*race.first, context), second = sourceSiteOf(*race.second, context);
    auto [entry, isNew] = known.try_emplace(std::minmax({first, second}), pairs.size());
    if (isNew) pairs.emplace_back();
    pairs[entry->second].push_back(&race);
  }
  return pairs;
}

namespace {
/// Whether the number goes into the sum or product: what is found at a place that it leads to (`in[u] < 0`)
/// is another.
bool isPartOf(Expr number, Expr sum) {
  bool isFound = false;
  const auto isDone = [&](Expr n) {
    isFound |= n == number;
    return isFound || n->op == Op::Apply;
  };
  bottomUp(sum, isDone, [](Expr) {});
  return isFound;
}

/// Whether the condition compares what the address follows with a fixed bound: then the guard itself lets the
/// access through.
bool isGuarded(const ModelAccess& access) {
  std::set<Expr> contents;
  anyNode(access.offset, [&](Expr n) {
    if (n->op == Op::Apply) contents.insert(n);
    return false;
  });
  return std::any_of(contents.begin(), contents.end(), [&](Expr content) {
    return anyNode(access.condition, [&](Expr n) {
      bool compares = n->op == Op::Slt || n->op == Op::Sle || n->op == Op::Ult || n->op == Op::Ule;
      if (!compares) return false;
      auto follows = [&](Expr side) { return isPartOf(content, side); };
      auto isFixed = [](Expr side) {
        return !anyNode(side, [](Expr part) { return part->op == Op::Apply; });
      };
      return (follows(n->operands[0]) && isFixed(n->operands[1])) ||
             (follows(n->operands[1]) && isFixed(n->operands[0]));
    });
  });
}

/// The guard's own bound is an argument that the launch does not show: the host may well pass a right one.
bool hasHiddenGuard(const BoundsResult& bounds) {
  return !bounds.witness.exact() && anyNode(bounds.access->condition, [](Expr n) {
    return n->op == Op::Symbol && n->symbol->kind == SymbolKind::Parameter &&
           n->symbol->cause.kind == CauseKind::Launch;
  });
}

/// Whether all threads of the group look at one place, as far as its words say.
bool isOneFor(BarrierReach reach, Expr place) {
  if (variesOf(place) != Varies::ByThread) return true;
  if (place->operands.empty()) return false;
  constexpr std::int64_t kLanes = 32;
  const bool isCut = place->operands.size() == 2 && isConst(place->operands[1]) &&
                     place->operands[0]->op == Op::Symbol &&
                     place->operands[0]->symbol->kind == SymbolKind::ThreadIdx;
  const std::int64_t by = isCut ? place->operands[1]->value : 0;
  const bool isOfWarp = (place->op == Op::LShr && by >= 5) ||
                        (place->op == Op::UDiv && by > 0 && by % kLanes == 0) ||
                        (place->op == Op::And && by != 0 && by % kLanes == 0);
  if (reach == BarrierReach::Warp && isCut && isOfWarp) return true;
  return std::ranges::all_of(place->operands, [&](Expr part) { return isOneFor(reach, part); });
}

/// A witness in which threads find different things at one place, for which nobody races: they find the same.
bool findsOnePlaceTwice(const DivergenceResult& divergence, const std::set<unsigned>& raced,
                        const FindingContext& context) {
  if (divergence.witness.exact()) return false;
  bool looks = false;
  for (Expr part : {divergence.control->condition, divergence.control->reached})
    if (anyNode(part, [&](Expr n) {
          if (n->op != Op::Symbol || n->symbol->cause.kind != CauseKind::Content) return false;
          const auto found = context.model.readAt.find(n->symbol);
          looks = true;
          return found == context.model.readAt.end() ||
                 !std::ranges::all_of(found->second, [&](const PlaceRead& read) {
                   return !raced.contains(read.object) && isOneFor(divergence.control->reach, read.offset);
                 });
        }))
      return false;
  return looks;
}
} // namespace

std::vector<const DivergenceResult*> divergencesToTell(const KernelAnswers& answers, const RacePairs& races,
                                                       const FindingContext& context) {
  std::set<unsigned> raced;
  for (const auto& pair : races)
    for (const RaceResult* race : pair) raced.insert(race->object);
  const auto weight = [](const DivergenceResult& d) {
    return d.witness.exact() * 2 + !d.control->othersExit;
  };
  std::vector<const DivergenceResult*> divergences;
  for (const DivergenceResult& divergence : answers.divergences) {
    if (findsOnePlaceTwice(divergence, raced, context)) continue;
    const auto same = std::ranges::find_if(divergences, [&](const DivergenceResult* other) {
      return samePlace(other->control->barrier, divergence.control->barrier);
    });
    if (same == divergences.end())
      divergences.push_back(&divergence);
    else if (weight(**same) < weight(divergence))
      *same = &divergence;
  }
  return divergences;
}

bool isWorthTelling(const BoundsResult& bounds) {
  // Tickets, counters and the votes of a warp stay within bounds that the model does not know.
  const auto isUnknowable = [](const Cause& cause) {
    return cause.kind == CauseKind::Order || cause.kind == CauseKind::Wait || cause.kind == CauseKind::Warp ||
           cause.kind == CauseKind::Content;
  };
  return !hasHiddenGuard(bounds) && std::ranges::none_of(bounds.witness.causes, isUnknowable) &&
         (!followsContent(*bounds.access) || isGuarded(*bounds.access));
}

} // namespace kcheck::analyzer
