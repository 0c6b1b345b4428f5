#include "analyzer/model/prepare/flow.h"
#include "analyzer/model/barriers.h"
#include "analyzer/model/prepare/ways_in.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <algorithm>
#include <vector>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// The constant that an instruction always gives, or null.
Constant* constantOf(Instruction& instruction, const DataLayout& layout) {
  if (auto* phi = dyn_cast<PHINode>(&instruction)) return dyn_cast_or_null<Constant>(phi->hasConstantValue());
  if (!isa<BinaryOperator>(instruction) && !isa<ICmpInst>(instruction) && !isa<CastInst>(instruction) &&
      !isa<SelectInst>(instruction))
    return nullptr;
  std::vector<Constant*> operands;
  for (Value* operand : instruction.operands()) {
    if (!isa<ConstantInt>(operand)) return nullptr;
    operands.push_back(cast<Constant>(operand));
  }
  Constant* folded = ConstantFoldInstOperands(&instruction, operands, layout);
  return folded && isa<ConstantInt>(folded) ? folded : nullptr;
}

} // namespace

void foldConstants(llvm::Function& kernel) {
  const DataLayout& layout = kernel.getDataLayout();
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock* block : ReversePostOrderTraversal<llvm::Function*>(&kernel))
      for (Instruction& instruction : make_early_inc_range(*block))
        if (Constant* constant = constantOf(instruction, layout); constant && !isa<UndefValue>(constant)) {
          instruction.replaceAllUsesWith(constant);
          instruction.eraseFromParent();
          changed = true;
        }
    for (BasicBlock& block : kernel) changed |= ConstantFoldTerminator(&block);
    EliminateUnreachableBlocks(kernel);
  }
}

namespace {

std::vector<CallInst*> callsOf(llvm::Function& kernel, const std::set<const llvm::Function*>& callees) {
  std::vector<CallInst*> calls;
  for (Instruction& instruction : instructions(kernel))
    if (auto* call = dyn_cast<CallInst>(&instruction))
      if (callees.count(call->getCalledFunction()) && !call->getCalledFunction()->isDeclaration())
        calls.push_back(call);
  return calls;
}

/// Whether no call is left after few enough steps.
bool writeOut(llvm::Function& kernel, const std::set<const llvm::Function*>& recursive) {
  constexpr std::size_t kMostCalls = 64;
  std::size_t written = 0;
  for (auto calls = callsOf(kernel, recursive); !calls.empty(); calls = callsOf(kernel, recursive)) {
    for (CallInst* call : calls) {
      const bool hasConstant = std::any_of(call->arg_begin(), call->arg_end(),
                                           [](const Use& argument) { return isa<ConstantInt>(argument); });
      InlineFunctionInfo info;
      if (!hasConstant || ++written > kMostCalls || !InlineFunction(*call, info).isSuccess()) return false;
    }
    foldConstants(kernel);
  }
  return written != 0;
}

} // namespace

bool writeOutRecursion(llvm::Function& kernel, const std::set<const llvm::Function*>& recursive) {
  if (callsOf(kernel, recursive).empty()) return false;
  // Tried on a copy first: where constants do not end it, a part of it written out is no help.
  ValueToValueMapTy map;
  auto copy = CloneModule(*kernel.getParent(), map);
  std::set<const llvm::Function*> copied;
  for (const llvm::Function* function : recursive) copied.insert(cast<llvm::Function>(map[function]));
  return writeOut(*cast<llvm::Function>(map[&kernel]), copied) && writeOut(kernel, recursive);
}

namespace {

using Blocks = std::vector<BasicBlock*>;

/// The kinds of barriers in the blocks.
std::set<BarrierKind> barriersIn(const Blocks& blocks) {
  std::set<BarrierKind> kinds;
  for (const BasicBlock* block : blocks)
    for (const Instruction& instruction : *block) kinds.insert(barrierOf(instruction).kind);
  kinds.erase(BarrierKind::None);
  return kinds;
}

/// The blocks of a loop, by any way in, that others than `head` are entered from outside; or nothing.
struct OpenLoop {
  Blocks blocks;
  BasicBlock* head = nullptr;
};

/// What is copied where the loop's head is `head`: the way there from its other entries.
Blocks wayIn(const OpenLoop& loop, const Blocks& entries, const BasicBlock* head) {
  Blocks todo = entries, way;
  while (!todo.empty()) {
    BasicBlock* block = todo.back();
    todo.pop_back();
    const bool isInside = std::find(loop.blocks.begin(), loop.blocks.end(), block) != loop.blocks.end();
    if (block == head || !isInside || std::find(way.begin(), way.end(), block) != way.end()) continue;
    way.push_back(block);
    todo.insert(todo.end(), succ_begin(block), succ_end(block));
  }
  return way;
}

/// The first entry, of those in the source's order, from the others to which are no barriers. Of those of the
/// block there may be two, where nobody comes to one of them while another thread of the block comes to the
/// other.
BasicBlock* headOf(const llvm::Function& kernel, const OpenLoop& loop, const Blocks& entries) {
  for (BasicBlock* head : entries)
    if (barriersIn(wayIn(loop, entries, head)).empty()) return head;
  const std::set<BarrierKind> copied = barriersIn(wayIn(loop, entries, entries.front()));
  const bool areOfBlock = copied == std::set<BarrierKind>{BarrierKind::Block};
  return areOfBlock && isEnteredTogether(kernel, {loop.blocks.begin(), loop.blocks.end()}) ? entries.front()
                                                                                           : nullptr;
}

OpenLoop findOpenLoop(llvm::Function& kernel) {
  for (auto scc = scc_begin(&kernel); !scc.isAtEnd(); ++scc) {
    if (!scc.hasCycle()) continue;
    OpenLoop loop{{scc->begin(), scc->end()}, nullptr};
    const std::set<const BasicBlock*> inside(loop.blocks.begin(), loop.blocks.end());
    Blocks entries; // blocks are in the source's order
    for (BasicBlock& block : kernel)
      if (inside.count(&block) && std::any_of(pred_begin(&block), pred_end(&block),
                                              [&](const BasicBlock* from) { return !inside.count(from); }))
        entries.push_back(&block);
    if (entries.size() > 1) loop.head = headOf(kernel, loop, entries);
    if (loop.head) return loop;
  }
  return {};
}

/// Whoever enters the loop elsewhere than at its head goes through a copy of its blocks until it comes there.
void copyTheWayIn(llvm::Function& kernel, const OpenLoop& loop) {
  std::set<const BasicBlock*> inside(loop.blocks.begin(), loop.blocks.end());
  // Values that cross blocks go through memory for the while, so that both copies may define them.
  std::vector<PHINode*> phis;
  std::vector<Instruction*> crossing;
  for (BasicBlock& block : kernel)
    for (Instruction& instruction : block) {
      if (auto* phi = dyn_cast<PHINode>(&instruction)) {
        phis.push_back(phi);
        continue;
      }
      if (inside.count(&block) && instruction.isUsedOutsideOfBlock(&block)) crossing.push_back(&instruction);
    }
  std::vector<AllocaInst*> slots;
  for (Instruction* instruction : crossing) slots.push_back(DemoteRegToStack(*instruction));
  for (PHINode* phi : phis) slots.push_back(DemotePHIToStack(phi));
  ValueToValueMapTy map;
  Blocks copies;
  for (BasicBlock* block : loop.blocks) {
    if (block == loop.head) continue;
    BasicBlock* copy = CloneBasicBlock(block, map, ".in", &kernel);
    map[block] = copy;
    copies.push_back(copy);
  }
  remapInstructionsInBlocks(copies, map);
  for (BasicBlock& block : kernel) {
    if (inside.count(&block) || std::find(copies.begin(), copies.end(), &block) != copies.end()) continue;
    Instruction* end = block.getTerminator();
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i)
      if (auto copy = map.find(end->getSuccessor(i)); copy != map.end())
        end->setSuccessor(i, cast<BasicBlock>(copy->second));
  }
  EliminateUnreachableBlocks(kernel);
  DominatorTree dominators(kernel);
  std::erase(slots, nullptr);
  PromoteMemToReg(slots, dominators);
}

} // namespace

void enterLoopsAtTheirHead(llvm::Function& kernel) {
  constexpr unsigned kMostLoops = 16;
  for (unsigned i = 0; i < kMostLoops; ++i) {
    const OpenLoop loop = findOpenLoop(kernel);
    if (!loop.head) return;
    copyTheWayIn(kernel, loop);
  }
}

} // namespace kcheck::analyzer
