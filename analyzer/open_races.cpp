#include "analyzer/open_races.h"

#include "analyzer/findings/worth_telling.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kcheck::analyzer {
namespace {

/// An element of an array that the kernel is given and does not write.
bool isGiven(Expr n) {
  if (n->op != Op::Apply) return false;
  const Function& function = *n->function;
  if (function.injective || function.isRoom || function.isBallot || function.isLeader) return false;
  const CauseKind kind = function.cause.kind;
  return function.exact || kind == CauseKind::Launch || kind == CauseKind::AnyInput;
}

/// Whether it is chosen by what is in arrays (the places of a binary search): threads are kept apart by an
/// order that those have.
bool isSearched(Expr e) {
  return anyNode(e, [](Expr n) { return n->op == Op::Ite && anyNode(n->operands[0], isGiven); });
}

/// What the place of an access is made of. What is only compared, or voted on, chooses among places that any
/// array leads to.
struct Makings {
  std::set<Expr> given;    ///< elements of arrays that the kernel is given
  std::set<Expr> indices;  ///< of threads and blocks
  std::set<Expr> counters; ///< such elements and indices by which counters are chosen that it draws from
  bool isFromHost = false; ///< what the kernel finds in memory that the host has filled has a part in it
};

class Origins {
public:
  explicit Origins(const KernelModel& model) : model(model) {}

  Makings of(Expr place) const {
    Makings found;
    Seen seen;
    add(place, found, seen);
    return found;
  }

private:
  /// What has been looked at, for the place and for the counters that it follows: each as often as it takes.
  struct Seen {
    std::set<Expr> place, counters;
    bool ofCounters = false;
    bool isNew(Expr n) { return (ofCounters ? counters : place).insert(n).second; }
  };

  /// By what the place of a counter is chosen.
  void addCounter(Expr place, Makings& found, Seen& seen) const {
    Makings counter;
    const bool before = std::exchange(seen.ofCounters, true);
    add(place, counter, seen);
    seen.ofCounters = before;
    found.counters.merge(counter.given);
    found.counters.merge(counter.indices);
  }

  void add(Expr n, Makings& found, Seen& seen) const {
    if (!n || n->width == 1 || (n->op == Op::Apply && n->function->isBallot) || !seen.isNew(n)) return;
    if (n->op == Op::Apply && model.draws.count(n->function)) {
      const auto keys = std::min<std::size_t>(n->function->keys, n->operands.size());
      for (std::size_t key = 0; key < keys; ++key) addCounter(n->operands[key], found, seen);
      return;
    }
    if (isIndex(n)) found.indices.insert(n);
    if (n->op == Op::Symbol) addSymbol(*n->symbol, found, seen);
    if (n->op == Op::Apply)
      if (const auto content = model.contents.find(n->function); content != model.contents.end())
        addContent(content->second, found, seen);
    if (isGiven(n)) found.given.insert(n);
    for (Expr operand : n->operands) add(operand, found, seen);
  }

  void addSymbol(const Symbol& symbol, Makings& found, Seen& seen) const {
    if (const auto made = model.madeFrom.find(&symbol); made != model.madeFrom.end())
      for (Expr part : made->second) {
        add(part, found, seen);
        found.isFromHost |= isSearched(part);
      }
    const auto update = model.updates.find(&symbol);
    if (update != model.updates.end()) {
      addCounter(update->second.offset, found, seen);
      addContent(update->second.object, found, seen, false);
    } else if (const auto read = model.readAt.find(&symbol); read != model.readAt.end()) {
      for (const PlaceRead& one : read->second) addContent(one.object, found, seen);
    } else {
      found.isFromHost |= symbol.cause.kind == CauseKind::Order; // of an operation that is not followed
    }
  }

  /// What is found in memory: in shared memory what the kernel has stored there, in global memory what the
  /// host has. Counters and locks begin at zero; what else is stored there may be the next one of a list.
  void addContent(unsigned object, Makings& found, Seen& seen, bool isPlain = true) const {
    const MemoryObject& memory = model.objects[object];
    if (isPlain && memory.space != MemorySpace::Shared) found.isFromHost |= memory.written;
    if (isPlain && memory.space != MemorySpace::Shared) return;
    Makings stored;
    for (const auto& [symbol, update] : model.updates)
      if (update.object == object) add(update.left, stored, seen);
    for (const Phase& phase : model.gridPhases)
      for (const ModelAccess& access : phase.accesses)
        if (access.object == object) add(access.stored, stored, seen);
    found.isFromHost |= stored.isFromHost || !stored.given.empty();
  }

  const KernelModel& model;
};

/// The elements by which atomic operations choose what they update.
std::set<Expr> keysOf(const KernelModel& model, const Origins& origins) {
  std::set<Expr> keys;
  for (const auto* phases :
       {&model.blockPhases, &model.warpPhases, &model.gridPhases}) // of rounds of their own
    for (const Phase& phase : *phases)
      for (const ModelAccess& access : phase.accesses)
        if (access.kind == AccessKind::Atomic) keys.merge(origins.of(access.offset).given);
  return keys;
}

bool followsNumbers(const ModelAccess& access) {
  return anyNode(access.offset,
                 [](Expr n) { return n->op == Op::Symbol && n->symbol->kind == SymbolKind::Parameter; });
}

/// Of different values, by a witness that leans on something.
bool isOnlyPossible(const RaceResult& race) { return !race.sameValue && !race.witness.exact(); }

} // namespace

std::vector<OpenRace> openRacesOf(const KernelAnswers& answers, const FindingContext& context) {
  const Origins origins(context.model);
  const std::set<Expr> keys = keysOf(context.model, origins);
  const auto isFoundByAnyRun = [&](const ModelAccess& access) {
    const Makings place = origins.of(access.offset);
    std::set<Expr> chosenBy = place.given;
    chosenBy.insert(place.indices.begin(), place.indices.end());
    return access.site != kNoSite && !place.isFromHost && std::ranges::includes(keys, place.given) &&
           std::ranges::includes(chosenBy,
                                 place.counters); // else where counters begin is what keeps them apart
  };
  std::vector<OpenRace> open;
  const auto add = [&](const ModelAccess& first, const ModelAccess& second) {
    if (isFoundByAnyRun(first) && isFoundByAnyRun(second))
      open.push_back({context.model.kernel->symbol, first.site, second.site,
                      followsNumbers(first) || followsNumbers(second)});
  };
  // Numbers that a run chooses are no better than those that a witness has.
  for (const RaceResult& race : answers.races)
    if (!race.takesSizes && (mayBeOrdered(race, context) || isOnlyPossible(race)))
      add(*race.first, *race.second);
  for (const auto& [first, second] : answers.unfollowed) add(*first, *second);
  return open;
}

/// Of a comparison with a number: of what is found in which object; else nothing.
static std::optional<std::pair<unsigned, std::int64_t>> soughtBy(Expr n, const KernelModel& model) {
  if (n->op != Op::Eq || !isConst(n->operands[1]) || n->operands[1]->value == 0) return {};
  const auto number = std::int64_t(n->operands[1]->value);
  const Expr found = n->operands[0];
  if (found->op == Op::Symbol) {
    if (const auto update = model.updates.find(found->symbol); update != model.updates.end())
      return std::pair(update->second.object, number);
    if (const auto read = model.readAt.find(found->symbol); read != model.readAt.end())
      return std::pair(read->second.front().object, number);
  } else if (found->op == Op::Apply) {
    if (const auto content = model.contents.find(found->function); content != model.contents.end())
      return std::pair(content->second, number);
  }
  return {};
}

/// Whether what an atomic operation or a look at a flag finds is compared with a number of the launch.
static bool asksForNumber(Expr n, const KernelModel& model) {
  if (n->op != Op::Eq) return false;
  const auto isFound = [&](Expr e) { return e->op == Op::Symbol && model.updates.count(e->symbol) != 0; };
  const auto isNumber = [](Expr e) {
    return e->op == Op::Symbol && e->symbol->kind == SymbolKind::Parameter;
  };
  const Expr a = n->operands[0], b = n->operands[1];
  return (isFound(a) && anyNode(b, isNumber)) || (isFound(b) && anyNode(a, isNumber));
}

void noteWanted(const KernelModel& model, WantedContents& wanted) {
  for (const auto* phases : {&model.blockPhases, &model.gridPhases})
    for (const Phase& phase : *phases)
      for (const ModelAccess& access : phase.accesses) {
        const bool signals = access.kind == AccessKind::Atomic && access.stores() && !access.isOfValue;
        if (signals || access.isVolatile) wanted.signalled.insert(model.objects[access.object].name);
        if (access.isPolled) wanted.waitedFor.insert(model.objects[access.object].name);
        anyNode(access.condition, [&](Expr n) {
          wanted.asksForNumbers |= asksForNumber(n, model);
          if (const auto sought = soughtBy(n, model))
            wanted.soughtIn.emplace(model.objects[sought->first].name, sought->second);
          return false;
        });
      }
}

} // namespace kcheck::analyzer
