#include "analyzer/model/lane_stores.h"

#include "analyzer/model/barriers.h"
#include "analyzer/model/execution.h"
#include "analyzer/model/prepare/member_objects.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// Everything that a kernel does to one shared variable.
struct Uses {
  std::set<const Instruction*> loads, stores;
};

/// False where the variable is used in other ways than by plain loads and stores.
bool collect(const Value& pointer, const llvm::Function& kernel, Uses& uses) {
  for (const User* user : pointer.users()) {
    auto* instruction = dyn_cast<Instruction>(user);
    if (instruction && instruction->getFunction() != &kernel) continue;
    if (isa<GEPOperator>(user) || isa<AddrSpaceCastOperator>(user)) {
      if (!collect(*user, kernel, uses)) return false;
    } else if (auto* load = dyn_cast<LoadInst>(user); load && load->isSimple()) {
      uses.loads.insert(load);
    } else if (auto* store = dyn_cast<StoreInst>(user);
               store && store->isSimple() && store->getPointerOperand() == &pointer) {
      uses.stores.insert(store);
    } else if (!instruction ||
               (!isa<LifetimeIntrinsic>(instruction) && !isa<DbgInfoIntrinsic>(instruction))) {
      return false;
    }
  }
  return true;
}

/// That all lanes of a warp meet there.
bool beginsWithWarpBarrier(const BasicBlock& block) {
  const BarrierKind kind = barrierOf(*block.getFirstNonPHIOrDbg()).kind;
  return kind == BarrierKind::Warp || kind == BarrierKind::Block || kind == BarrierKind::Grid;
}

/// Whether some path leads from one block to the other and comes past no block where `stops` holds.
template <class Stops> bool leads(const BasicBlock* from, const BasicBlock* to, const Stops& stops) {
  std::vector<const BasicBlock*> todo{to};
  std::set<const BasicBlock*> seen;
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    if (block == from) return true;
    if (!stops(*block)) todo.insert(todo.end(), pred_begin(block), pred_end(block));
  }
  return false;
}

/// The barrier between where threads part for the store, and the load, which comes behind in the same round
/// and is over before the next one's store.
const BasicBlock* barrierBetween(const BasicBlock* store, const BasicBlock* load,
                                 const DominatorTree& dominators, const LoopInfo& loops) {
  for (const Loop* loop = loops.getLoopFor(store); loop; loop = loop->getParentLoop())
    if (!loop->contains(load)) return nullptr;
  const BasicBlock* parting =
      dominators.findNearestCommonDominator(const_cast<BasicBlock*>(store), const_cast<BasicBlock*>(load));
  if (!parting || loops.getLoopFor(parting) != loops.getLoopFor(store)) return nullptr;
  // Who comes round again must not store while others still read.
  if (leads(load, store, beginsWithWarpBarrier)) return nullptr;
  for (auto* node = dominators.getNode(load); node && node->getBlock() != parting; node = node->getIDom())
    if (beginsWithWarpBarrier(*node->getBlock()) &&
        !leads(store, load, [&](const BasicBlock& block) { return &block == node->getBlock(); }))
      return node->getBlock();
  return nullptr;
}

} // namespace

LaneStores::LaneStores(const llvm::Function& kernel, const DominatorTree& dominators, const LoopInfo& loops,
                       bool areApart) {
  constexpr unsigned kShared = 3;
  for (const GlobalVariable& variable : kernel.getParent()->globals()) {
    if (variable.getAddressSpace() != kShared || variable.isDeclaration()) continue;
    if (!areApart && isMember(variable)) continue;
    Uses uses;
    if (!collect(variable, kernel, uses) || uses.stores.size() != 1) continue;
    auto* store = cast<StoreInst>(*uses.stores.begin());
    bool isSource = false;
    for (const Instruction* load : uses.loads) {
      if (load->getType() != store->getValueOperand()->getType() || !load->getType()->isIntegerTy()) continue;
      const BasicBlock* barrier = barrierBetween(store->getParent(), load->getParent(), dominators, loops);
      if (!barrier) continue;
      found[load] = {store, barrier};
      isSource = true;
    }
    if (isSource) loads[store] = uses.loads;
  }
}

const LaneStores::Source* LaneStores::of(const Instruction& load) const {
  const auto source = found.find(&load);
  return source == found.end() ? nullptr : &source->second;
}

/// Whether no two warps of a block store to the same bytes: the places that follow their numbers lie apart.
static bool liesApart(KernelState& state, Expr offset, std::int64_t bytes) {
  constexpr std::int64_t kMostWarps = 32;
  const auto at = [&](std::int64_t warp) {
    Substitution place(state.exprs);
    for (Expr number : warpNumbers(state)) place.set(number, state.exprs.constant(32, warp));
    return place(offset);
  };
  const Expr first = at(0);
  if (variesOf(first) == Varies::ByThread) return false;
  std::set<std::int64_t> distances;
  for (std::int64_t warp = 0; warp < kMostWarps; ++warp) {
    const Expr distance = state.exprs.sub(at(warp), first);
    if (!isConst(distance)) return false;
    const auto next = distances.lower_bound(distance->value - bytes + 1);
    if (next != distances.end() && *next < distance->value + bytes) return false;
    distances.insert(distance->value);
  }
  return true;
}

/// The lane that alone does what is done under the condition, which goes on with `rest`.
static std::optional<std::int64_t> laneThatComes(KernelState& state, Expr condition, Expr& rest) {
  std::optional<std::int64_t> lane;
  rest = state.exprs.boolean(true);
  for (Expr part : conjunctsOf(condition))
    if (!lane && part->op == Op::Eq && isConst(part->operands[1]) && isLane(state, part->operands[0]))
      lane = part->operands[1]->value;
    else
      rest = state.exprs.logicalAnd(rest, part);
  return lane;
}

/// What the lane that stores for its warp leaves behind; null where this run has not come past it.
const Execution::LaneStored* Execution::laneStoredFor(const LaneStores::Source& source) const {
  const auto in = [&](const Execution& run) {
    const auto known = run.laneStored.find(source.store);
    return known == run.laneStored.end() ? nullptr : &known->second;
  };
  // A run from a barrier begins behind the store, or ends before the load.
  const bool isEarlier = before && stops && state.barrierBlocks.count(source.barrier) != 0;
  const LaneStored* own = isEarlier ? nullptr : in(*this);
  return own || !before ? own : in(*before);
}

/// What one lane of the warp has stored for all, where this load reads such a thing and is done under
/// `condition`; else null.
Expr Execution::storedByLane(const Instruction& load, Expr pointer, Expr condition) {
  const LaneStores::Source* source = state.laneStores.of(load);
  const LaneStored* stored = source ? laneStoredFor(*source) : nullptr;
  if (!stored) return nullptr;
  const auto places = state.objects.places(stored->pointer);
  Expr rest = nullptr;
  const auto lane = laneThatComes(state, stored->condition, rest);
  const std::int64_t bytes = state.layout.getTypeStoreSize(load.getType()).getFixedValue();
  if (!lane || places.size() != 1) return nullptr;
  const Instruction& meeting = *source->barrier->getFirstNonPHIOrDbg();
  auto inLane = wordsOfLane(state, meeting, *lane);
  const Expr open = inLane ? inLane->ofAll(rest, condition) : nullptr;
  if (!open || !isTrue(open)) return nullptr;
  const Expr place = inLane->of(places[0].offset), value = inLane->of(stored->value);
  if (!place || !value || !isConst(state.exprs.sub(inLane->of(stored->pointer), pointer), 0) ||
      !liesApart(state, place, bytes))
    return nullptr;
  state.storedByLanes.insert(&load);
  return value;
}

} // namespace kcheck::analyzer
