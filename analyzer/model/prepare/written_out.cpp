#include "analyzer/model/prepare/written_out.h"

#include "analyzer/model/barriers.h"
#include "analyzer/model/prepare/unrolling.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::size_t kMostInstructions = 8000, kMostWithoutBarrier = 1500;

std::optional<std::uint32_t> numberOf(const IntrinsicInst& call, const LaunchCase& launch) {
  switch (call.getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x: return launch.block[0];
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y: return launch.block[1];
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z: return launch.block[2];
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x: return launch.grid[0];
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y: return launch.grid[1];
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z: return launch.grid[2];
  default: return {};
  }
}

/// Places and variables are those of the kernel itself: what is known of them goes by their names in memory.
void keepPlaces(const llvm::Function& kernel, llvm::Function& copy) {
  for (auto&& [from, to] : zip_equal(instructions(kernel), instructions(copy))) {
    to.setDebugLoc(from.getDebugLoc());
    for (auto&& [known, made] :
         zip_equal(filterDbgVars(from.getDbgRecordRange()), filterDbgVars(to.getDbgRecordRange()))) {
      made.get().setDebugLoc(known.get().getDebugLoc());
      made.get().setVariable(known.get().getVariable());
    }
  }
}

void putNumbers(llvm::Function& kernel, const LaunchCase& launch) {
  for (llvm::Argument& argument : kernel.args()) {
    const unsigned number = argument.getArgNo();
    if (!launch.launch || number >= launch.launch->arguments.size()) break;
    const auto& given = launch.launch->arguments[number].value;
    if (given && argument.getType()->isIntegerTy())
      argument.replaceAllUsesWith(
          ConstantInt::get(argument.getType(), std::uint64_t(*given), /*IsSigned=*/true));
  }
  for (Instruction& instruction : instructions(kernel))
    if (auto* call = dyn_cast<IntrinsicInst>(&instruction))
      if (const auto number = numberOf(*call, launch))
        call->replaceAllUsesWith(ConstantInt::get(call->getType(), *number));
}

bool hasBarrier(const Loop& loop) {
  return any_of(loop.blocks(), [](const BasicBlock* block) {
    return any_of(*block, [](const Instruction& i) { return barrierOf(i).kind != BarrierKind::None; });
  });
}

/// The outermost loops first, for what inner ones count from is a number then.
bool writeOutOne(llvm::Function& kernel) {
  Unrolling unrolling(kernel);
  const std::size_t whole = kernel.getInstructionCount();
  for (Loop* loop : unrolling.loops().getLoopsInPreorder()) {
    const unsigned rounds = unrolling.roundsOf(*loop);
    if (rounds == 0) continue;
    std::size_t size = 0;
    for (const BasicBlock* block : loop->blocks()) size += block->size();
    const std::size_t most = hasBarrier(*loop) ? kMostInstructions : kMostWithoutBarrier;
    if (whole + size * rounds <= most && unrolling.writeOut(*loop)) return true;
  }
  return false;
}

} // namespace

llvm::Function* copyOf(llvm::Function& kernel) {
  ValueToValueMapTy map;
  llvm::Function* copy = CloneFunction(&kernel, map);
  keepPlaces(kernel, *copy);
  return copy;
}

std::optional<KernelCode> writtenOut(const KernelCode& code, const LaunchCase& launch) {
  constexpr unsigned kMostLoops = 64;
  llvm::Function* copy = copyOf(*code.function);
  putNumbers(*copy, launch);
  for (Instruction& instruction : make_early_inc_range(instructions(*copy)))
    if (Constant* folded = ConstantFoldInstruction(&instruction, copy->getDataLayout()))
      instruction.replaceAllUsesWith(folded);
  dropDeadRounds(*copy);
  simplifyLoops(*copy);
  unsigned count = 0;
  for (; count < kMostLoops && writeOutOne(*copy); ++count) {
    dropDeadRounds(*copy);
    simplifyLoops(*copy);
  }
  if (count == 0) {
    copy->eraseFromParent();
    return {};
  }
  KernelCode result = code;
  result.function = copy;
  return result;
}

} // namespace kcheck::analyzer
