#include "analyzer/model/prepare/barrier_objects.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

const ptx::Type kWord{ptx::Type::Kind::Unsigned, 32, 1}, kState{ptx::Type::Kind::Unsigned, 64, 1};

std::string spaceOf(const ptx::Statement& s) {
  for (const std::string& word : s.opcode)
    if (word.starts_with("shared")) return "shared";
  return "";
}

CallInst* call(ptx::Builder& p, const char* name, Type* result, ArrayRef<Value*> arguments) {
  std::vector<Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  auto* module = p.call.getModule();
  auto callee = module->getOrInsertFunction(name, FunctionType::get(result, types, false));
  auto* made = p.b.CreateCall(callee, arguments);
  made->setConvergent();
  p.target.made(*made);
  return made;
}

/// One more that arrives, of the object's own block, where that releases: what is relaxed, drops out, counts
/// for several or expects bytes of copies is not understood.
bool arrive(ptx::Builder& p, const ptx::Statement& s) {
  for (const char* other : {"expect_tx", "noComplete", "shared::cluster", "relaxed", "cluster"})
    if (s.has(other)) return false;
  if (s.operands.size() < 2 || s.operands.size() > 3) return false;
  if (s.operands.size() == 3) {
    auto* count = dyn_cast<ConstantInt>(p.bits(s.operands[2], kWord));
    if (!count || !count->isOne()) return false;
  }
  p.write(s.operands[0], call(p, kArriveAtObject, p.b.getInt64Ty(), {p.address(s.operands[1], spaceOf(s))}));
  return true;
}

bool test(ptx::Builder& p, const ptx::Statement& s) {
  if (s.operands.size() < 3 || s.has("relaxed") || s.has("cluster")) return false;
  const bool byParity = s.has("parity");
  auto* done = call(p, byParity ? kTestParity : kTestToken, p.b.getInt1Ty(),
                    {p.address(s.operands[1], spaceOf(s)), p.bits(s.operands[2], byParity ? kWord : kState)});
  p.write(s.operands[0], done);
  return true;
}

bool isTest(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  const auto* callee = call ? call->getCalledFunction() : nullptr;
  return callee && (callee->getName() == kTestToken || callee->getName() == kTestParity);
}

/// What a thread does that finds the object not done, until it looks again.
class Polling {
public:
  explicit Polling(const CallInst& test) : test(test) {}

  /// It comes back to the test whatever happens, has done nothing meanwhile that others see, and nobody asks
  /// later how often it has.
  bool isAllThatIsDone() {
    const BasicBlock* home = test.getParent();
    if (!isQuiet(std::next(test.getIterator()), home->end())) return false;
    std::vector<const BasicBlock*> todo = next(*home);
    std::set<const BasicBlock*> seen;
    while (!todo.empty()) {
      const BasicBlock* block = todo.back();
      todo.pop_back();
      if (!seen.insert(block).second || block == home) continue;
      if (isa<ReturnInst, UnreachableInst>(block->getTerminator()) || !isQuiet(block->begin(), block->end()))
        return false;
      for (const BasicBlock* follows : next(*block)) todo.push_back(follows);
    }
    if (!seen.count(home) || !isQuiet(home->begin(), test.getIterator())) return false;
    for (const BasicBlock* block : seen)
      for (const PHINode& phi : block->phis())
        for (const User* user : phi.users())
          if (!seen.count(cast<Instruction>(user)->getParent())) return false;
    return all_of(test.args(), [&](const Use& operand) { return staysTheSame(operand.get(), seen, 16); });
  }

private:
  /// Whether it is the object, token or parity that it was at the look before.
  static bool staysTheSame(const Value* value, const std::set<const BasicBlock*>& polled, unsigned depth) {
    auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction || !polled.count(instruction->getParent())) return true;
    if (depth == 0 || isa<PHINode>(instruction) || instruction->mayReadOrWriteMemory() ||
        isa<CallInst>(instruction))
      return false;
    return all_of(instruction->operands(),
                  [&](const Use& operand) { return staysTheSame(operand.get(), polled, depth - 1); });
  }

  static bool isQuiet(BasicBlock::const_iterator at, BasicBlock::const_iterator end) {
    return std::all_of(at, end, [](const Instruction& instruction) {
      auto* call = dyn_cast<CallInst>(&instruction);
      const auto* callee = call ? call->getCalledFunction() : nullptr;
      if (callee &&
          (callee->getName().starts_with("llvm.nvvm.read.ptx.sreg.") ||
           callee->getName().starts_with("llvm.nvvm.nanosleep") || callee->getName() == "__assertfail" ||
           callee->getName().starts_with("llvm.dbg.") || callee->getName().starts_with("llvm.lifetime.")))
        return true;
      return !instruction.mayReadOrWriteMemory() && !instruction.mayHaveSideEffects();
    });
  }

  /// Where a thread goes from the block that has found the object not done.
  std::vector<const BasicBlock*> next(const BasicBlock& block) const {
    auto* branch = dyn_cast<BranchInst>(block.getTerminator());
    if (branch && branch->isConditional())
      if (const auto taken = valueOf(branch->getCondition(), 8))
        return {branch->getSuccessor(taken->isZero() ? 1 : 0)};
    return {succ_begin(&block), succ_end(&block)};
  }

  /// What the value is where the test gives false, where that follows.
  std::optional<APInt> valueOf(const Value* value, unsigned depth) const {
    if (value == &test) return APInt(1, 0);
    if (auto* constant = dyn_cast<ConstantInt>(value)) return constant->getValue();
    auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction || depth == 0) return {};
    const auto operand = [&](unsigned i) { return valueOf(instruction->getOperand(i), depth - 1); };
    if (isa<SelectInst>(instruction)) {
      const auto chosen = operand(0);
      return chosen ? operand(chosen->isZero() ? 2 : 1) : std::nullopt;
    }
    if (isa<ZExtInst, SExtInst, TruncInst>(instruction)) {
      const auto inner = operand(0);
      const unsigned width = instruction->getType()->getIntegerBitWidth();
      if (!inner) return {};
      return isa<SExtInst>(instruction) ? inner->sextOrTrunc(width) : inner->zextOrTrunc(width);
    }
    if (instruction->getNumOperands() != 2 || !isa<ICmpInst, BinaryOperator>(instruction)) return {};
    const auto left = operand(0), right = operand(1);
    if (!left || !right) return {};
    if (auto* compare = dyn_cast<ICmpInst>(instruction))
      return APInt(1, ICmpInst::compare(*left, *right, compare->getPredicate()));
    switch (instruction->getOpcode()) {
    case Instruction::Xor: return *left ^ *right;
    case Instruction::And: return *left & *right;
    case Instruction::Or: return *left | *right;
    default: return {};
    }
  }

  const CallInst& test;
};

} // namespace

bool isOwnCall(const CallInst& call) {
  const auto* callee = call.getCalledFunction();
  return callee && (callee->getName().starts_with("kcheck.mbarrier.") || callee->getName() == kArriveAtName);
}

bool barrierObject(ptx::Builder& p, const ptx::Statement& s) {
  if (s.opcode.size() < 2) return false;
  const std::string& what = s.opcode[1];
  if (what == "init" && s.operands.size() == 2) {
    call(p, kInitObject, p.b.getVoidTy(),
         {p.address(s.operands[0], spaceOf(s)), p.bits(s.operands[1], kWord)});
    return true;
  }
  if (what == "arrive") return arrive(p, s);
  if (what == "test_wait" || what == "try_wait") return test(p, s);
  return false;
}

bool arriveAtName(ptx::Builder& p, const ptx::Statement& s) {
  if (s.operands.size() != 2 || s.has("cluster")) return false;
  call(p, kArriveAtName, p.b.getVoidTy(), {p.bits(s.operands[0], kWord), p.bits(s.operands[1], kWord)});
  return true;
}

void dropFoldedWays(llvm::Function& kernel) {
  for (BasicBlock& block : kernel) ConstantFoldTerminator(&block);
  removeUnreachableBlocks(kernel);
}

bool foldSpaces(llvm::Function& kernel) {
  std::vector<std::pair<IntrinsicInst*, bool>> known;
  for (Instruction& instruction : instructions(kernel)) {
    auto* asked = dyn_cast<IntrinsicInst>(&instruction);
    if (!asked || asked->getIntrinsicID() != Intrinsic::nvvm_isspacep_shared) continue;
    auto* variable = dyn_cast<GlobalVariable>(getUnderlyingObject(asked->getArgOperand(0), 0));
    if (variable) known.emplace_back(asked, variable->getAddressSpace() == 3);
  }
  for (auto [asked, isShared] : known) {
    asked->replaceAllUsesWith(ConstantInt::getBool(kernel.getContext(), isShared));
    asked->eraseFromParent();
  }
  if (known.empty()) return false;
  dropFoldedWays(kernel);
  return true;
}

bool waitInsteadOfPolling(llvm::Function& kernel) {
  std::vector<CallInst*> tests;
  for (Instruction& instruction : instructions(kernel))
    if (isTest(instruction)) tests.push_back(cast<CallInst>(&instruction));
  if (tests.empty()) return false;
  dropFoldedWays(kernel);
  erase_if(tests, [](CallInst* test) { return !Polling(*test).isAllThatIsDone(); });
  for (CallInst* test : tests) {
    const bool byParity = test->getCalledFunction()->getName() == kTestParity;
    IRBuilder<> b(test);
    auto* type = FunctionType::get(
        b.getVoidTy(), {test->getArgOperand(0)->getType(), test->getArgOperand(1)->getType()}, false);
    auto callee = kernel.getParent()->getOrInsertFunction(byParity ? kWaitForParity : kWaitForToken, type);
    auto* wait = b.CreateCall(callee, {test->getArgOperand(0), test->getArgOperand(1)});
    wait->setConvergent();
    wait->copyMetadata(*test);
    test->replaceAllUsesWith(b.getTrue());
    test->eraseFromParent();
  }
  return !tests.empty();
}

} // namespace kcheck::analyzer
