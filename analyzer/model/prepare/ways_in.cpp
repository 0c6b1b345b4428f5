#include "analyzer/model/prepare/ways_in.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <algorithm>
#include <map>
#include <vector>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

using Blocks = std::set<const BasicBlock*>;

bool isOfBlock(const Intrinsic::ID index) {
  switch (index) {
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z: return true;
  default: return false;
  }
}

/// Whether all threads of a block have the same value, as is plain to see.
bool isSameForBlock(const Value* value, unsigned depth = 16) {
  if (isa<llvm::Argument>(value) || isa<ConstantInt>(value) || isa<ConstantFP>(value)) return true;
  if (auto* index = dyn_cast<IntrinsicInst>(value)) return isOfBlock(index->getIntrinsicID());
  auto* made = dyn_cast<Instruction>(value);
  const bool computes = made && (isa<BinaryOperator>(made) || isa<CmpInst>(made) || isa<CastInst>(made) ||
                                 isa<SelectInst>(made));
  return computes && depth > 0 && std::all_of(made->op_begin(), made->op_end(), [&](const Use& operand) {
           return isSameForBlock(operand, depth - 1);
         });
}

/// By which of its blocks a loop may be entered from each block outside of it.
std::map<const BasicBlock*, Blocks> entriesFrom(const llvm::Function& kernel, const Blocks& inside) {
  std::map<const BasicBlock*, Blocks> result;
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock& block : kernel) {
      if (inside.count(&block)) continue;
      Blocks& entries = result[&block];
      const std::size_t before = entries.size();
      for (const BasicBlock* next : successors(&block)) {
        if (inside.count(next)) {
          entries.insert(next);
        } else if (next != &block) {
          const Blocks& further = result[next];
          entries.insert(further.begin(), further.end());
        }
      }
      changed = changed || entries.size() != before;
    }
  }
  return result;
}

const Value* decidingOf(const Instruction& end) {
  if (auto* branch = dyn_cast<BranchInst>(&end); branch && branch->isConditional())
    return branch->getCondition();
  auto* choice = dyn_cast<SwitchInst>(&end);
  return choice ? choice->getCondition() : nullptr;
}

} // namespace

bool isEnteredTogether(const llvm::Function& kernel, const Blocks& inside) {
  const auto entries = entriesFrom(kernel, inside);
  return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
    std::set<Blocks> ways; // who comes to none of them takes no part
    for (const BasicBlock* next : successors(entry.first)) {
      const Blocks of = inside.count(next) ? Blocks{next} : entries.at(next);
      if (!of.empty()) ways.insert(of);
    }
    const Value* deciding = decidingOf(*entry.first->getTerminator());
    return ways.size() < 2 || (deciding && isSameForBlock(deciding));
  });
}

} // namespace kcheck::analyzer
