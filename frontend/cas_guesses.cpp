// Looked for in a promoted copy of each function that has an atomicCAS or calls one, with what it calls
// inlined; the function itself stays as it is.
#include "frontend/cas_guesses.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace kcheck::frontend {
namespace {

constexpr unsigned kRounds = 8;         ///< of inlining: how deep calls are followed
constexpr unsigned kLargestCopy = 5000; ///< instructions from which on nothing more is inlined

/// What a functor computes from the guess, or a wrapper exchanges, is seen where it is called.
void inlineCallees(llvm::Function& copy, const llvm::Function& original) {
  unsigned size = copy.getInstructionCount();
  for (unsigned round = 0; round < kRounds; ++round) {
    std::vector<llvm::CallBase*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(copy)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration() && callee != &original && callee != &copy) calls.push_back(call);
    }
    if (calls.empty()) return;
    for (llvm::CallBase* call : calls) {
      size += call->getCalledFunction()->getInstructionCount();
      if (size > kLargestCopy) return;
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*call, info, /*MergeAttributes=*/false, nullptr, /*InsertLifetime=*/false);
    }
  }
}

/// Locals go to registers, those in structures too.
void promote(llvm::Function& function) {
  llvm::FunctionAnalysisManager analyses;
  analyses.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  analyses.registerPass([] { return llvm::TargetIRAnalysis(); });
  analyses.registerPass([] { return llvm::AssumptionAnalysis(); });
  analyses.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  llvm::SROAPass(llvm::SROAOptions::PreserveCFG).run(function, analyses);
}

/// The same address, also where it is computed twice.
bool isSame(const llvm::Value* a, const llvm::Value* b, unsigned depth = 8) {
  a = a->stripPointerCasts();
  b = b->stripPointerCasts();
  if (a == b) return true;
  const auto *x = llvm::dyn_cast<llvm::Instruction>(a), *y = llvm::dyn_cast<llvm::Instruction>(b);
  if (!x || !y || depth == 0 || !x->isSameOperationAs(y) || x->mayReadOrWriteMemory()) return false;
  if (llvm::isa<llvm::PHINode>(x)) return false;
  for (unsigned i = 0; i < x->getNumOperands(); ++i)
    if (!isSame(x->getOperand(i), y->getOperand(i), depth - 1)) return false;
  return true;
}

/// `__float_as_int` and the like: a float is compared and exchanged as the integer that its bits are.
bool takesForBits(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee && llvm::StringSwitch<bool>(callee->getName())
                       .Cases("__nv_float_as_int", "__nv_float_as_uint", true)
                       .Cases("__nv_int_as_float", "__nv_uint_as_float", true)
                       .Cases("__nv_double_as_longlong", "__nv_longlong_as_double", true)
                       .Default(false);
}

/// The same bits in another type, perhaps a wider one.
bool keepsBits(const llvm::Value& value) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&value);
  if (call) return takesForBits(*call);
  return llvm::isa<llvm::BitCastInst, llvm::PtrToIntInst, llvm::IntToPtrInst, llvm::ZExtInst, llvm::SExtInst>(
      value);
}

const llvm::Value& withoutCasts(const llvm::Value& value) {
  return keepsBits(value) ? withoutCasts(*llvm::cast<llvm::Instruction>(value).getOperand(0)) : value;
}

class Guess {
public:
  Guess(const llvm::LoadInst& read, const llvm::DominatorTree& dominators,
        const llvm::PostDominatorTree& joins)
      : read(read), dominators(dominators), joins(joins) {}

  /// The atomicCAS that checks what is read here; null where the value has other uses.
  const llvm::AtomicCmpXchgInst* check() {
    add(read, true);
    for (std::size_t i = 0; i < values.size(); ++i)
      for (const llvm::Use& use : values[i]->uses())
        if (!follow(use)) return nullptr;
    const bool fine =
        llvm::all_of(kept, [&](const llvm::StoreInst* store) { return isCheckedAfter(*store); }) &&
        llvm::all_of(others, [&](const llvm::Use* use) { return followsSuccess(*use); });
    return fine ? checker : nullptr;
  }

private:
  void add(const llvm::Value& value, bool isGuess) {
    values.insert(&value);
    if (isGuess) guesses.insert(&value);
  }

  bool follow(const llvm::Use& use) {
    const auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
    if (!user) return false;
    const bool isGuess = guesses.contains(use.get());
    if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(user))
      return isChecked(*exchange, use);
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user); store && use.getOperandNo() == 0) {
      if (!isGuess) return leave(use);
      kept.push_back(store);
      return true;
    }
    if (llvm::isa<llvm::PHINode>(user) || keepsBits(*user)) {
      add(*user, isGuess);
      return true;
    }
    if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(user))
      return choosesValues(*branch) || leave(use);
    if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(user);
        compare && compare->isEquality() && isGuess && isResult(*compare->getOperand(1 - use.getOperandNo())))
      return true;
    const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    const bool isPure =
        call ? isPureCall(*call)
             : llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::SelectInst,
                         llvm::CmpInst, llvm::InsertValueInst, llvm::ExtractValueInst>(user);
    if (!isPure) return leave(use);
    add(*user, false);
    return true;
  }

  /// For the end, when the atomicCAS is known.
  bool leave(const llvm::Use& use) {
    others.push_back(&use);
    return true;
  }

  /// Whether the value is used only where the atomicCAS has found what it was computed from: old values that
  /// are returned, say.
  bool followsSuccess(const llvm::Use& use) const {
    if (!checker || !comesFromCompared(*use.get())) return false;
    const llvm::Value& compared = withoutCasts(*checker->getCompareOperand());
    for (const llvm::Instruction& end : llvm::instructions(*checker->getFunction())) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&end);
      const auto* test = branch && branch->isConditional()
                             ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                             : nullptr;
      if (!test || !test->isEquality()) continue;
      const llvm::Value &a = withoutCasts(*test->getOperand(0)), &b = withoutCasts(*test->getOperand(1));
      if (!(isFound(a) && &b == &compared) && !(isFound(b) && &a == &compared)) continue;
      const unsigned success = test->getPredicate() == llvm::CmpInst::ICMP_EQ ? 0 : 1;
      if (dominators.dominates(llvm::BasicBlockEdge(branch->getParent(), branch->getSuccessor(success)), use))
        return true;
    }
    return false;
  }

  /// Of what is read, nothing but what the atomicCAS compares went into it, in the same round of a loop.
  bool comesFromCompared(const llvm::Value& value) const {
    if (&withoutCasts(value) == &withoutCasts(*checker->getCompareOperand())) return true;
    if (!values.contains(&value)) return true;
    const auto* made = llvm::dyn_cast<llvm::Instruction>(&value);
    if (!made || made == &read || llvm::isa<llvm::PHINode>(made)) return false;
    return llvm::all_of(made->operands(), [&](const llvm::Use& part) { return comesFromCompared(*part); });
  }

  /// What this atomicCAS found.
  bool isFound(const llvm::Value& value) const {
    const auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(&value);
    return part && part->getAggregateOperand() == checker && part->getIndices().front() == 0;
  }

  /// Whether a branch does no more than choose between values, as `a > b ? a : b` does; the chosen ones are
  /// then computed from what is read, too.
  bool choosesValues(const llvm::BranchInst& branch) {
    const auto* node = joins.getNode(branch.getParent())->getIDom();
    const llvm::BasicBlock* join = node ? node->getBlock() : nullptr;
    if (!join) return false;
    llvm::SetVector<const llvm::BasicBlock*> between;
    const auto enter = [&](const llvm::BasicBlock* block) {
      for (const llvm::BasicBlock* next : llvm::successors(block))
        if (next != join) between.insert(next);
    };
    enter(branch.getParent());
    for (std::size_t i = 0; i < between.size(); ++i) {
      for (const llvm::Instruction& instruction : *between[i])
        if (instruction.mayHaveSideEffects() && !isMarker(instruction)) return false;
      enter(between[i]);
    }
    if (between.contains(branch.getParent())) return false; // decides how often a loop runs
    for (const llvm::PHINode& chosen : join->phis()) add(chosen, false);
    return true;
  }

  static bool isMarker(const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return instruction.isLifetimeStartOrEnd() || (call && isPureCall(*call));
  }

  bool isChecked(const llvm::AtomicCmpXchgInst& exchange, const llvm::Use& use) {
    const bool comes = use.getOperandNo() == 1 && guesses.contains(use.get());
    const bool goes = use.getOperandNo() == 2 && guesses.contains(exchange.getCompareOperand());
    if (!(comes || goes) || !isSame(exchange.getPointerOperand(), read.getPointerOperand())) return false;
    checker = &exchange;
    return true;
  }

  /// `node->next = head; CAS(&head, node->next, node)`: what is kept is wrong only until the atomicCAS that
  /// follows says so, and is stored anew before the next one.
  bool isCheckedAfter(const llvm::StoreInst& store) const {
    if (!checker || store.isAtomic()) return false;
    const bool same = &withoutCasts(*store.getValueOperand()) == &withoutCasts(*checker->getCompareOperand());
    return same && dominators.dominates(&store, checker) &&
           joins.dominates(checker->getParent(), store.getParent());
  }

  /// What an atomicCAS found.
  static bool isResult(const llvm::Value& value) {
    const auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(&withoutCasts(value));
    return part && llvm::isa<llvm::AtomicCmpXchgInst>(part->getAggregateOperand());
  }

  /// A function of its arguments alone; the mathematical functions of libdevice are declarations here.
  static bool isPureCall(const llvm::CallBase& call) {
    if (const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand()))
      return call.doesNotAccessMemory() && !assembly->hasSideEffects();
    const llvm::Function* callee = call.getCalledFunction();
    const bool handsOn = llvm::any_of(call.args(), [](const llvm::Use& argument) {
      return argument->getType()->isPointerTy(); // sincos puts its results there
    });
    return callee && !handsOn && (callee->doesNotAccessMemory() || callee->getName().starts_with("__nv_"));
  }

  const llvm::LoadInst& read;
  const llvm::DominatorTree& dominators;
  const llvm::PostDominatorTree& joins;
  std::vector<const llvm::StoreInst*> kept; ///< stores of the guess
  std::vector<const llvm::Use*> others;     ///< uses that decide or hand on what was read
  const llvm::AtomicCmpXchgInst* checker = nullptr;
  llvm::SetVector<const llvm::Value*> values;  ///< computed from what is read
  llvm::SetVector<const llvm::Value*> guesses; ///< its very bits
};

bool hasExchange(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::AtomicCmpXchgInst>(instruction);
  });
}

void relax(llvm::Function& function) {
  llvm::ValueToValueMapTy map;
  llvm::Function* copy = llvm::CloneFunction(&function, map);
  inlineCallees(*copy, function);
  promote(*copy);
  const llvm::DominatorTree dominators(*copy);
  const llvm::PostDominatorTree joins(*copy);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* read = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!read || read->isAtomic() || llvm::isa<llvm::AllocaInst>(read->getPointerOperand())) continue;
    const auto* copied = llvm::dyn_cast_or_null<llvm::LoadInst>(map.lookup(read));
    const llvm::AtomicCmpXchgInst* exchange = copied ? Guess(*copied, dominators, joins).check() : nullptr;
    if (!exchange) continue;
    const llvm::DataLayout& layout = function.getParent()->getDataLayout();
    if (layout.getTypeStoreSize(read->getType()) ==
        layout.getTypeStoreSize(exchange->getCompareOperand()->getType()))
      read->setAtomic(llvm::AtomicOrdering::Monotonic, exchange->getSyncScopeID());
  }
  copy->eraseFromParent();
}

} // namespace

void relaxGuesses(llvm::Module& module) {
  llvm::SetVector<llvm::Function*> functions; ///< that come to an exchange
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && hasExchange(function)) functions.insert(&function);
  for (std::size_t i = 0; i < functions.size(); ++i)
    for (llvm::User* user : functions[i]->users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user);
          call && call->getCalledFunction() == functions[i])
        functions.insert(call->getFunction());
  for (llvm::Function* function : functions) relax(*function);
}

} // namespace kcheck::frontend
