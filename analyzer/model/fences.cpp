#include "analyzer/model/fences.h"

#include "analyzer/model/barriers.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

unsigned fenceReach(const Instruction& instruction) {
  if (auto* fence = dyn_cast<FenceInst>(&instruction))
    return fence->getSyncScopeID() == SyncScope::System ? 2 : 1;
  auto* call = dyn_cast<CallInst>(&instruction);
  if (!call) return 0;
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(call)) {
    switch (intrinsic->getIntrinsicID()) {
    case Intrinsic::nvvm_membar_cta: return 1;
    case Intrinsic::nvvm_membar_gl:
    case Intrinsic::nvvm_membar_sys: return 2;
    default: return 0;
    }
  }
  return 0;
}

bool isInOneOrder(const Instruction& fence) {
  auto* general = dyn_cast<FenceInst>(&fence);
  return !general || general->getOrdering() == AtomicOrdering::SequentiallyConsistent;
}

/// An update as clang writes atomicAdd and its relatives, in one order of all, orders nothing by itself: CUDA
/// defines those as relaxed.
static AtomicOrdering orderOf(const Instruction& instruction) {
  if (auto* load = dyn_cast<LoadInst>(&instruction)) return load->getOrdering();
  if (auto* store = dyn_cast<StoreInst>(&instruction)) return store->getOrdering();
  auto order = AtomicOrdering::NotAtomic;
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) order = update->getOrdering();
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) order = exchange->getMergedOrdering();
  return order == AtomicOrdering::SequentiallyConsistent ? AtomicOrdering::Monotonic : order;
}

static unsigned reachOf(const Instruction& atomic) {
  const auto scope = getAtomicSyncScopeID(&atomic);
  return !scope || *scope == SyncScope::System ? 2 : 1;
}

unsigned acquireReach(const Instruction& instruction) {
  return isAcquireOrStronger(orderOf(instruction)) ? reachOf(instruction) : 0;
}

unsigned releaseReach(const Instruction& instruction) {
  return isReleaseOrStronger(orderOf(instruction)) ? reachOf(instruction) : 0;
}

namespace {

/// As `fenceReach`, of everything that may order as a fence does.
unsigned orderingReach(const Instruction& instruction) {
  if (unsigned reach = fenceReach(instruction)) return reach;
  if (acquireReach(instruction) || releaseReach(instruction)) return 2;
  switch (barrierOf(instruction).kind) {
  case BarrierKind::Grid: return 2;
  case BarrierKind::None: break;
  default: return 1;
  }
  auto* call = dyn_cast<CallInst>(&instruction);
  if (!call || isa<IntrinsicInst>(call)) return 0;
  if (auto* assembly = dyn_cast<InlineAsm>(call->getCalledOperand())) {
    StringRef text = StringRef(assembly->getAsmString()).trim();
    return call->mayWriteToMemory() && !text.empty() && !text.starts_with("nanosleep") ? 2 : 0;
  }
  auto* callee = call->getCalledFunction();
  const bool isPlain = callee && (callee->getName().starts_with("__nv_") || callee->getName() == "vprintf" ||
                                  callee->doesNotAccessMemory());
  return isPlain ? 0 : 2;
}

unsigned widestIn(const BasicBlock& block) {
  unsigned reach = 0;
  for (const Instruction& instruction : block) reach = std::max(reach, orderingReach(instruction));
  return reach;
}

} // namespace

FenceMap::FenceMap(const Function& kernel) {
  std::map<const BasicBlock*, unsigned> own;
  for (const BasicBlock& block : kernel) own[&block] = widestIn(block);
  for (bool changed = true; changed;) {
    changed = false;
    auto raise = [&](unsigned& known, unsigned reach) {
      changed = changed || reach > known;
      known = std::max(known, reach);
    };
    for (const BasicBlock& block : kernel)
      for (const BasicBlock* next : successors(&block)) {
        raise(below[&block], std::max(own[next], below[next]));
        raise(above[next], std::max(own[&block], above[&block]));
      }
  }
}

unsigned FenceMap::before(const Instruction& instruction) const {
  auto outside = above.find(instruction.getParent());
  unsigned reach = outside == above.end() ? 0 : outside->second;
  for (const Instruction* at = instruction.getPrevNode(); at; at = at->getPrevNode())
    reach = std::max(reach, orderingReach(*at));
  return reach;
}

unsigned FenceMap::after(const Instruction& instruction) const {
  auto outside = below.find(instruction.getParent());
  unsigned reach = outside == below.end() ? 0 : outside->second;
  for (const Instruction* at = instruction.getNextNode(); at; at = at->getNextNode())
    reach = std::max(reach, orderingReach(*at));
  return reach;
}

} // namespace kcheck::analyzer
