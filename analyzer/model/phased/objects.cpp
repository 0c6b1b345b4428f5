#include "analyzer/model/phased/objects.h"

#include "analyzer/model/prepare/barrier_objects.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace kcheck::analyzer {

static bool setsUp(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  return call && isOwnCall(*call) && call->getCalledFunction()->getName() == kInitObject;
}

BarrierObjects::BarrierObjects(KernelState& state, Execution& run, const Ways& ways, Comers& comers,
                               const PhasedOperations& operations)
    : state(state), run(run), ways(ways), comers(comers) {
  std::set<unsigned> used;
  for (const PhasedOperation& operation : operations.all)
    for (const PhasedName& name : operation.names)
      if (name.object) used.insert(*name.object);
  for (const RunAccess& access : run.accesses) {
    const unsigned object = access.access.object;
    if (setsUp(*access.instruction)) {
      readSetUp(access);
      continue;
    }
    auto* call = dyn_cast<CallInst>(access.instruction);
    if (used.count(object) && !(call && isOwnCall(*call)))
      doubts.emplace(object, "`" + state.objects[object].name + "` is accessed at " +
                                 state.lineText(*access.instruction) + " in another way");
  }
  checkOrder(operations);
}

/// Where the barriers lie that are set up there: by several rounds of a loop, or by a thread for each.
std::vector<Expr> BarrierObjects::placesOf(const RunAccess& access) {
  constexpr std::int64_t kMostRounds = 64;
  Expr offset = access.access.offset;
  if (isConst(offset)) return {offset};
  std::vector<Expr> places;
  const Loop* loop = ways.loopOf(*access.instruction);
  const auto round = loop ? run.iterations.find(loop) : run.iterations.end();
  const auto rounds = loop ? run.knownTrips.find(loop) : run.knownTrips.end();
  if (round != run.iterations.end() && rounds != run.knownTrips.end() && rounds->second <= kMostRounds) {
    for (std::int64_t at = 0; at < rounds->second; ++at) {
      Substitution now(state.exprs);
      now.set(round->second, state.exprs.constant(round->second->width, at));
      places.push_back(now(offset));
    }
  } else if (!loop && comers.isShapeKnown()) {
    const auto come = comers.of(*access.instruction->getParent());
    for (std::int64_t thread = 0; thread < comers.threads(); ++thread)
      if (come[std::size_t(thread)]) places.push_back(comers.at(thread, offset));
  }
  return places;
}

void BarrierObjects::readSetUp(const RunAccess& access) {
  const auto& call = cast<CallInst>(*access.instruction);
  const unsigned object = access.access.object;
  setUps[object].push_back(&call);
  Expr threads = run.value(call.getArgOperand(1));
  const std::vector<Expr> places = placesOf(access);
  const std::string line = state.lineText(call);
  const bool hangsOnMore = anyNode(threads, [](Expr n) {
    return n->op == Op::Apply || (n->op == Op::Symbol && n->symbol->kind != SymbolKind::BlockDim);
  });
  if (hangsOnMore || places.empty() || !all_of(places, [](Expr e) { return isConst(e); })) {
    doubts.emplace(object, hangsOnMore ? "how many threads it counts (" + line + ") is no constant"
                                       : "which one is set up at " + line + " is not followed");
    return;
  }
  for (Expr place : places) {
    const auto [known, isNew] = counts.try_emplace({object, place->value}, threads);
    if (!isNew && known->second != threads)
      doubts.emplace(object, "it is set up for other numbers of threads too");
  }
}

/// A barrier of the block is between, to which nobody comes back to set it up again.
bool BarrierObjects::comesBeforeAll(const Instruction& barrier, unsigned object,
                                    const PhasedOperations& operations) const {
  for (const PhasedOperation& operation : operations.all)
    if (!operation.names.empty() && operation.names.front().object == object &&
        !ways.isPassed(barrier, *operation.call))
      return false;
  return none_of(setUps.at(object), [&](const Instruction* setUp) { return ways.mayCome(barrier, *setUp); });
}

void BarrierObjects::checkOrder(const PhasedOperations& operations) {
  for (auto& [object, list] : setUps) {
    bool isOrdered = false;
    for (const Instruction& instruction : instructions(state.function))
      isOrdered =
          isOrdered || (isBlockBarrier(instruction) && comesBeforeAll(instruction, object, operations));
    if (!isOrdered)
      doubts.emplace(object, "no barrier of the block is between where it is set up (" +
                                 state.lineText(*list.front()) + ") and where it is used");
  }
}

BarrierObjects::Counted BarrierObjects::at(const PhasedName& name) const {
  if (auto doubt = doubts.find(*name.object); doubt != doubts.end()) return {nullptr, doubt->second};
  const auto known = counts.find(name);
  if (known == counts.end()) return {nullptr, "where it is set up is not in sight"};
  return {known->second, ""};
}

} // namespace kcheck::analyzer
