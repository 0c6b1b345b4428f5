#include "analyzer/model/arrivals.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

bool isOne(const Value* v) {
  auto* number = dyn_cast<ConstantInt>(v);
  return number && number->isOne();
}

bool countsUp(const Instruction& instruction) {
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction))
    return update->getOperation() == AtomicRMWInst::Add && isOne(update->getValOperand());
  auto* call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call) return false;
  if (call->getIntrinsicID() == Intrinsic::nvvm_atomic_load_inc_32) return true;
  return call->getIntrinsicID() == Intrinsic::nvvm_atomic_add_gen_i_sys && isOne(call->getArgOperand(1));
}

} // namespace

Arrivals::Arrivals(const llvm::Function& kernel, const LoopInfo& loops) {
  for (const Instruction& instruction : instructions(kernel))
    if (countsUp(instruction) && !loops.getLoopFor(instruction.getParent())) atomics.push_back(&instruction);
}

} // namespace kcheck::analyzer
