// What may order a kernel's threads besides whole-block barriers. The runtime keeps the state for fences,
// orders and warps only where a kernel can use it.
#include "instrument/pass/call_graph.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>
#include <set>

namespace kcheck::instrument {

namespace {

constexpr std::uint32_t kOrderMask = 7;

std::uint32_t argument(const llvm::CallInst& call, unsigned position) {
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(position));
  return constant ? std::uint32_t(constant->getZExtValue()) : ~0u;
}

std::uint32_t traitsOfWait(const llvm::CallInst& marker) {
  switch (waitKindOf(marker)) {
  case abi::WaitKind::GridSync: return abi::TraitGridSync;
  case abi::WaitKind::WarpSync: return abi::TraitWarpSync;
  case abi::WaitKind::BarrierArrive: return abi::TraitNamedBarrier;
  case abi::WaitKind::Yield: return argument(marker, 1) == abi::kGivesUp ? abi::TraitGivesUp : 0;
  case abi::WaitKind::BlockBarrier:
    return argument(marker, 1) == 0 && argument(marker, 2) == 0 ? 0 : abi::TraitNamedBarrier;
  default: return 0;
  }
}

std::uint32_t traitsOf(DeviceCode& code, const llvm::Instruction& instruction) {
  if (isWaitMarker(instruction)) return traitsOfWait(llvm::cast<llvm::CallInst>(instruction));
  for (Call call : {Call::kcFence, Call::kcAsyncCopy})
    if (isCallTo(instruction, call)) return abi::TraitFences;
  if (isCallTo(instruction, Call::kcBarrierObject)) return abi::TraitFences | abi::TraitHandsOver;
  bool isAtomic = isCallTo(instruction, Call::kcAtomic);
  if (isAtomic && argument(llvm::cast<llvm::CallInst>(instruction), 4) & kOrderMask)
    return abi::TraitFences | abi::TraitHandsOver;
  if (!isAtomic && !isCallTo(instruction, Call::kcRead) && !isCallTo(instruction, Call::kcWrite)) return 0;
  std::uint32_t site = argument(llvm::cast<llvm::CallInst>(instruction), 3);
  bool isFlag = code.sites[site].flags & (abi::SiteVolatile | abi::SitePolled);
  return (isFlag ? abi::TraitFences : 0) | (isFlag || isAtomic ? abi::TraitHandsOver : 0);
}

/// Atomics of several sizes on what one pointer leads to: the runtime is to look at each of them.
bool mixesSizes(const std::set<llvm::Function*>& functions) {
  std::map<const llvm::Value*, std::uint32_t> sizes;
  for (llvm::Function* function : functions)
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      if (!isCallTo(instruction, Call::kcAtomic)) continue;
      const auto& call = llvm::cast<llvm::CallInst>(instruction);
      const std::uint32_t bytes = argument(call, 2);
      if (bytes < 4) continue; // made of operations on words
      const auto [known, isNew] =
          sizes.try_emplace(llvm::getUnderlyingObject(call.getArgOperand(1), 0), bytes);
      if (!isNew && known->second != bytes) return true;
    }
  return false;
}

/// Atomics of block scope and wider ones: the runtime is to know of each of the narrow ones, also where the
/// same thread's next one was wide.
bool mixesScopes(const std::set<llvm::Function*>& functions) {
  constexpr unsigned shared = 3;
  bool isNarrow = false, isWide = false;
  for (llvm::Function* function : functions)
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      if (!isCallTo(instruction, Call::kcAtomic)) continue;
      const auto& call = llvm::cast<llvm::CallInst>(instruction);
      const auto* variable =
          llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(call.getArgOperand(1), 0));
      if (variable && variable->getAddressSpace() == shared) continue;
      (argument(call, 4) >> 4 & 3) < 2 ? isNarrow = true : isWide = true;
    }
  return isNarrow && isWide;
}

/// The access is a line of the user's, not of a library's header.
bool isUsers(const DeviceCode& code, const llvm::Instruction& instruction) {
  for (Call call : {Call::kcRead, Call::kcWrite, Call::kcAtomic}) {
    if (!isCallTo(instruction, call)) continue;
    std::uint32_t site = code.sites[argument(llvm::cast<llvm::CallInst>(instruction), 3)].origin;
    return site < code.facts.sites.size() && !code.facts.sites[site].inSystemHeader;
  }
  return false;
}

/// A kernel of Thrust or CUB without a line of the user's.
bool isLibraryCode(const DeviceCode& code, const KernelCode& kernel, const CallGraph& graph) {
  auto known = std::ranges::find(code.facts.kernels, kernel.symbol, &Kernel::symbol);
  if (known == code.facts.kernels.end() || !known->inSystemHeader) return false;
  return std::ranges::none_of(graph.reachable(*kernel.entry), [&](llvm::Function* function) {
    return std::ranges::any_of(llvm::instructions(*function), [&](const llvm::Instruction& instruction) {
      return isUsers(code, instruction);
    });
  });
}

/// Integer arithmetic on memory, the outcome of which is the same in any order.
bool isOrderFree(const llvm::AtomicRMWInst& update) {
  using Update = llvm::AtomicRMWInst;
  constexpr unsigned shared = 3;
  const auto* variable =
      llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(update.getPointerOperand(), 0));
  if (variable && variable->getAddressSpace() == shared) return true; // the block's own affair
  if (!update.use_empty() || !update.getType()->isIntegerTy()) return false;
  switch (update.getOperation()) {
  case Update::Add:
  case Update::Sub:
  case Update::And:
  case Update::Or:
  case Update::Xor:
  case Update::Max:
  case Update::Min:
  case Update::UMax:
  case Update::UMin: return true;
  default: return false;
  }
}

/// What a thread gets or memory ends as does not hang on the order of blocks that do not race.
bool isOrderFree(const std::set<llvm::Function*>& functions) {
  return std::ranges::all_of(functions, [](llvm::Function* function) {
    return std::ranges::all_of(llvm::instructions(*function), [](const llvm::Instruction& instruction) {
      const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      return !instruction.isAtomic() || (update && isOrderFree(*update));
    });
  });
}

/// Some thread learns from an atomic what others have done.
bool gives(const std::set<llvm::Function*>& functions) {
  return std::ranges::any_of(functions, [](llvm::Function* function) {
    return std::ranges::any_of(llvm::instructions(*function), [](const llvm::Instruction& instruction) {
      return instruction.isAtomic() && !instruction.use_empty();
    });
  });
}

} // namespace

void findTraits(DeviceCode& code) {
  const CallGraph graph(code.module);
  std::map<llvm::Function*, std::uint32_t> traits;
  for (llvm::Function* function : graph.calleesFirst())
    for (llvm::Instruction& instruction : llvm::instructions(*function))
      traits[function] |= traitsOf(code, instruction);
  for (KernelCode& kernel : code.kernels) {
    kernel.traits = abi::TraitsKnown | (code.options.checks ? 0 : abi::TraitUnchecked);
    const std::set<llvm::Function*> reached = graph.reachable(*kernel.entry);
    for (llvm::Function* function : reached) kernel.traits |= traits[function];
    if (mixesSizes(reached) || mixesScopes(reached)) kernel.traits |= abi::TraitFences;
    if (isOrderFree(reached)) kernel.traits |= abi::TraitOrderFree;
    if (gives(reached)) kernel.traits |= abi::TraitGives;
    if ((kernel.traits & abi::TraitHandsOver) && isLibraryCode(code, kernel, graph))
      kernel.traits &= ~std::uint32_t{abi::TraitHandsOver};
  }
}

} // namespace kcheck::instrument
