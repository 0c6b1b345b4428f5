// `for (int x : at)`. A pointer that changes from round to round, or on different ways, and always lies in
// one local array or constant table becomes the table's start and a number: how often such loops run, and
// what they read, follows from numbers then.
#include "analyzer/model/prepare/walked_tables.h"

#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

#include <map>
#include <set>
#include <vector>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

bool isTable(const Value* value) {
  const auto* variable = dyn_cast<GlobalVariable>(value);
  return isa<AllocaInst>(value) || (variable && variable->isConstant());
}

class Walkers {
public:
  explicit Walkers(llvm::Function& kernel) : kernel(kernel), layout(kernel.getDataLayout()) {}

  void count() {
    std::vector<PHINode*> walkers;
    std::vector<ICmpInst*> comparisons;
    for (Instruction& instruction : instructions(kernel)) {
      if (auto* phi = dyn_cast<PHINode>(&instruction); phi && phi->getType()->isPointerTy() && tableOf(phi))
        walkers.push_back(phi);
      if (auto* comparison = dyn_cast<ICmpInst>(&instruction);
          comparison && comparison->getOperand(0)->getType()->isPointerTy())
        comparisons.push_back(comparison);
    }
    if (walkers.empty()) return;
    for (ICmpInst* comparison : comparisons) compareNumbers(*comparison);
    for (PHINode* phi : walkers) numberOf(phi);
    for (PHINode* phi : walkers) {
      IRBuilder<> builder(phi->getParent(), phi->getParent()->getFirstInsertionPt());
      builder.SetCurrentDebugLocation(phi->getDebugLoc());
      phi->replaceAllUsesWith(builder.CreatePtrAdd(tables.at(phi), numbers.at(phi)));
    }
    for (PHINode* phi : walkers) phi->replaceAllUsesWith(PoisonValue::get(phi->getType()));
    for (PHINode* phi : walkers) phi->eraseFromParent();
  }

private:
  /// In which a pointer lies whatever way it comes; null where that is not one.
  Value* tableOf(Value* pointer) {
    const auto known = tables.find(pointer);
    if (known != tables.end()) return known->second;
    Value* found = nullptr;
    std::vector<Value*> todo{pointer};
    std::set<Value*> seen;
    bool isOne = true;
    while (!todo.empty() && isOne) {
      Value* next = todo.back();
      todo.pop_back();
      if (!seen.insert(next).second) continue;
      if (auto* step = dyn_cast<GEPOperator>(next)) {
        todo.push_back(step->getPointerOperand());
      } else if (auto* phi = dyn_cast<PHINode>(next)) {
        todo.insert(todo.end(), phi->value_op_begin(), phi->value_op_end());
      } else if (auto* choice = dyn_cast<SelectInst>(next)) {
        todo.insert(todo.end(), {choice->getTrueValue(), choice->getFalseValue()});
      } else {
        isOne = isTable(next) && (!found || found == next);
        found = next;
      }
    }
    return tables[pointer] = isOne ? found : nullptr;
  }

  /// The bytes from the start of its table.
  Value* numberOf(Value* pointer) {
    if (const auto known = numbers.find(pointer); known != numbers.end()) return known->second;
    Type* type = Type::getInt64Ty(kernel.getContext());
    if (isTable(pointer)) return numbers[pointer] = ConstantInt::get(type, 0);
    if (auto* phi = dyn_cast<PHINode>(pointer)) {
      auto* number = PHINode::Create(type, phi->getNumIncomingValues(), "", phi->getIterator());
      number->setDebugLoc(phi->getDebugLoc());
      numbers[pointer] = number;
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
        number->addIncoming(numberOf(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
      return number;
    }
    if (auto* choice = dyn_cast<SelectInst>(pointer)) {
      Value *one = numberOf(choice->getTrueValue()), *other = numberOf(choice->getFalseValue());
      IRBuilder<> builder(choice);
      return numbers[pointer] = builder.CreateSelect(choice->getCondition(), one, other);
    }
    auto* step = cast<GEPOperator>(pointer);
    Value* before = numberOf(step->getPointerOperand());
    APInt bytes(64, 0);
    if (step->accumulateConstantOffset(layout, bytes) && isa<Constant>(before))
      return numbers[pointer] = ConstantInt::get(type, cast<ConstantInt>(before)->getValue() + bytes);
    IRBuilder<> builder(cast<Instruction>(pointer));
    Value* way = builder.CreateSExtOrTrunc(emitGEPOffset(&builder, layout, step), type);
    return numbers[pointer] = builder.CreateAdd(before, way, "", false, step->isInBounds());
  }

  /// Tables lie nowhere near the ends of memory: their places have signs.
  void compareNumbers(ICmpInst& comparison) {
    Value *first = comparison.getOperand(0), *second = comparison.getOperand(1);
    if (!tableOf(first) || tableOf(first) != tableOf(second)) return;
    Value *one = numberOf(first), *other = numberOf(second);
    IRBuilder<> builder(&comparison);
    comparison.replaceAllUsesWith(
        builder.CreateICmp(ICmpInst::getSignedPredicate(comparison.getPredicate()), one, other));
  }

  llvm::Function& kernel;
  const DataLayout& layout;
  std::map<Value*, Value*> tables, numbers;
};

} // namespace

void countWalkers(llvm::Function& kernel) { Walkers(kernel).count(); }

} // namespace kcheck::analyzer
