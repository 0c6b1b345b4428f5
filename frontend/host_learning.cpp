#include "frontend/host_learning.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <vector>

namespace kcheck::frontend {
namespace {

using namespace llvm;

/// From whose return nobody learns that another thread has come so far. What is on neither list may be a
/// lock.
bool isHarmless(StringRef name) {
  static const StringSet<> names = {"malloc",
                                    "calloc",
                                    "realloc",
                                    "free",
                                    "aligned_alloc",
                                    "posix_memalign",
                                    "printf",
                                    "fprintf",
                                    "sprintf",
                                    "snprintf",
                                    "vprintf",
                                    "vfprintf",
                                    "vsnprintf",
                                    "puts",
                                    "putchar",
                                    "fputs",
                                    "fputc",
                                    "putc",
                                    "fflush",
                                    "perror",
                                    "exit",
                                    "abort",
                                    "_exit",
                                    "__assert_fail",
                                    "atoi",
                                    "atof",
                                    "atol",
                                    "rand",
                                    "srand",
                                    "abs",
                                    "labs",
                                    "time",
                                    "clock",
                                    "clock_gettime",
                                    "gettimeofday",
                                    "pthread_create",
                                    "pthread_self",
                                    "pthread_attr_init",
                                    "pthread_attr_destroy",
                                    "atexit",
                                    "__cxa_atexit",
                                    "__cxa_allocate_exception",
                                    "__cxa_free_exception",
                                    "__cxa_throw",
                                    "__cxa_rethrow",
                                    "__cxa_begin_catch",
                                    "__cxa_end_catch",
                                    "_Unwind_Resume",
                                    "__gxx_personality_v0",
                                    "__errno_location",
                                    "_ZNSt6thread20hardware_concurrencyEv",
                                    "_ZNSt6thread6_StateD2Ev",
                                    "_ZNSt8ios_base4InitC1Ev"};
  static const std::vector<StringRef> starts = {
      "llvm.", "cuda", "__cuda", "cublas", "curand", "cufft", "mem", "str", "_Znw", "_Zna", "_Zdl", "_Zda",
      "_ZSt9terminate", "_ZSt17__throw", "_ZSt20__throw", "_ZSt19__throw", "_ZSt24__throw", "_ZSt25__throw",
      "_ZSt28__throw",
      // streams that write, and strings
      "_ZNSo", "_ZStls", "_ZSt4endl", "_ZSt5flush", "_ZSt16__ostream_insert", "_ZNSt7__cxx1112basic_string",
      "_ZNKSt7__cxx1112basic_string", "_ZNSt6chrono3_V2",
      // a thread that is started tells its parent nothing
      "_ZNSt6thread15_M_start_thread"};
  return names.contains(name) ||
         std::ranges::any_of(starts, [&](StringRef start) { return name.starts_with(start); });
}

/// `sinf`, `pow`: numbers in, a number out.
bool isArithmetic(const FunctionType& type) {
  const auto isNumber = [](const Type* one) { return one->isFloatingPointTy() || one->isIntegerTy(32); };
  return type.getReturnType()->isFloatingPointTy() && type.getNumParams() > 0 && !type.isVarArg() &&
         std::ranges::all_of(type.params(), isNumber);
}

bool mayTeach(const CallBase& call) {
  if (isa<IntrinsicInst>(call)) return false;
  const Function* callee = call.getCalledFunction();
  if (!callee) return true;                   // inline assembly too
  if (!callee->isDeclaration()) return false; // what is in it is looked at there
  return !callee->doesNotAccessMemory() && !isHarmless(callee->getName()) &&
         !isArithmetic(*callee->getFunctionType());
}

bool mayTeach(const Instruction& instruction) {
  if (const auto* call = dyn_cast<CallBase>(&instruction)) return mayTeach(*call);
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) return load->isAtomic() || load->isVolatile();
  return isa<AtomicRMWInst, AtomicCmpXchgInst, FenceInst>(instruction);
}

/// What a loop that waits has in it; calls through pointers are left out, which are in many that do not.
bool mayWait(const Instruction& instruction) {
  const auto* call = dyn_cast<CallBase>(&instruction);
  return mayTeach(instruction) && (!call || call->getCalledFunction());
}

using Functions = SmallPtrSet<const Function*, 32>;

/// Those of the module by which a thread may learn something, also by what they call.
Functions teachingFunctions(const Module& host) {
  Functions found;
  std::vector<const Function*> open;
  for (const Function& function : host)
    if (any_of(instructions(function), [](const Instruction& one) { return mayWait(one); }))
      found.insert(&function), open.push_back(&function);
  while (!open.empty()) {
    const Function* callee = open.back();
    open.pop_back();
    for (const User* user : callee->users())
      if (const auto* call = dyn_cast<CallBase>(user); call && found.insert(call->getFunction()).second)
        open.push_back(call->getFunction());
  }
  return found;
}

/// `while (!done);` does nothing but to ask again.
bool onlyAsks(const Loop& loop) {
  const auto asks = [](const Instruction& one) {
    return !one.mayWriteToMemory() && (!isa<CallBase>(one) || isa<DbgInfoIntrinsic>(one));
  };
  return std::ranges::all_of(loop.blocks(), [&](const BasicBlock* block) { return all_of(*block, asks); });
}

/// Branches whose innermost loop has a lock in it, or a call that may wait, or nothing at all: by the
/// language's rules `while (!done) usleep(10);` orders nothing, but on the machines that there are it does.
void addPolls(Function& function, const Functions& teaching, std::vector<Instruction*>& places) {
  const DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  SmallPtrSet<const Loop*, 8> polling;
  for (const Loop* loop : loops.getLoopsInPreorder())
    if (onlyAsks(*loop)) polling.insert(loop);
  for (const Instruction& instruction : instructions(function)) {
    const auto* call = dyn_cast<CallBase>(&instruction);
    if (!mayWait(instruction) && !(call && teaching.contains(call->getCalledFunction()))) continue;
    for (const Loop* loop = loops.getLoopFor(instruction.getParent()); loop && polling.insert(loop).second;)
      loop = loop->getParentLoop();
  }
  for (BasicBlock& block : function) {
    if (!polling.contains(loops.getLoopFor(&block)) || block.getTerminator()->getNumSuccessors() < 2)
      continue;
    if (!isa<BranchInst, SwitchInst>(block.getTerminator())) continue;
    for (BasicBlock* next : successors(&block)) places.push_back(&*next->getFirstInsertionPt());
  }
}

/// Code that is loaded later may order threads too: they are not followed then.
void noteLoading(Module& host) {
  if (!host.getFunction("dlopen") && !host.getFunction("dlmopen")) return;
  Type* type = Type::getInt8Ty(host.getContext());
  new GlobalVariable(host, type, true, GlobalValue::WeakODRLinkage, ConstantInt::get(type, 1),
                     "kcheckLoadsCode");
}

} // namespace

void markWhereThreadsLearn(Module& host) {
  noteLoading(host);
  const Functions teaching = teachingFunctions(host);
  std::vector<Instruction*> places; // what comes before them may teach something
  for (Function& function : host) {
    if (function.isDeclaration()) continue;
    addPolls(function, teaching, places);
    for (Instruction& instruction : instructions(function)) {
      if (!mayTeach(instruction)) continue;
      if (auto* invoke = dyn_cast<InvokeInst>(&instruction)) {
        for (BasicBlock* next : {invoke->getNormalDest(), invoke->getUnwindDest()})
          places.push_back(&*next->getFirstInsertionPt());
      } else if (!instruction.isTerminator()) {
        places.push_back(instruction.getNextNode());
      }
    }
  }
  if (places.empty()) return;
  const FunctionCallee learns = host.getOrInsertFunction("kcHostLearns", Type::getVoidTy(host.getContext()));
  for (Instruction* place : places) {
    auto* call = CallInst::Create(learns, "", place->getIterator());
    call->setDoesNotThrow();
    if (DebugLoc where = place->getDebugLoc())
      call->setDebugLoc(where);
    else if (DISubprogram* function = place->getFunction()->getSubprogram())
      call->setDebugLoc(DILocation::get(host.getContext(), 0, 0, function));
  }
}

} // namespace kcheck::frontend
