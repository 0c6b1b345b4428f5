#include "analyzer/model/prepare/prepare.h"

#include "analyzer/model/barriers.h"
#include "analyzer/model/prepare/barrier_objects.h"
#include "analyzer/model/prepare/called_code.h"
#include "analyzer/model/prepare/carries.h"
#include "analyzer/model/prepare/flow.h"
#include "analyzer/model/prepare/inline_ptx.h"
#include "analyzer/model/prepare/kept_accesses.h"
#include "analyzer/model/prepare/local_tables.h"
#include "analyzer/model/prepare/member_objects.h"
#include "analyzer/model/prepare/members.h"
#include "analyzer/model/prepare/table_loops.h"
#include "analyzer/model/prepare/unreachable.h"
#include "analyzer/model/prepare/walked_tables.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

PreparedModule::PreparedModule() = default;
PreparedModule::~PreparedModule() = default;
PreparedModule::PreparedModule(PreparedModule&&) noexcept = default;

namespace {

/// The passes of LLVM that are used, with the analyses they need.
class Passes {
public:
  Passes() {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
  }
  void run(Module& module, const char* pipeline) {
    ModulePassManager manager;
    cantFail(builder.parsePassPipeline(manager, pipeline));
    manager.run(module, modules);
    modules.clear();
    functions.clear();
  }

private:
  PassBuilder builder;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
};

/// Variables that some function of the program writes: what they begin with says little.
std::set<std::string> writtenVariables(const Module& module) {
  std::set<std::string> written;
  auto note = [&](const Value* pointer) {
    if (auto* variable = dyn_cast<GlobalVariable>(getUnderlyingObject(pointer)))
      written.insert(wholeName(*variable));
  };
  for (const auto& function : module)
    for (const Instruction& instruction : instructions(function)) {
      if (auto* store = dyn_cast<StoreInst>(&instruction)) note(store->getPointerOperand());
      if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) note(update->getPointerOperand());
      if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) note(exchange->getPointerOperand());
      if (auto* copy = dyn_cast<MemIntrinsic>(&instruction)) note(copy->getRawDest());
    }
  return written;
}

bool isIrreducible(llvm::Function& function) {
  LoopInfo loops{DominatorTree(function)};
  ReversePostOrderTraversal<llvm::Function*> order(&function);
  return containsIrreducibleCFG<BasicBlock*>(order, loops);
}

/// Every barrier opens a block of its own that is no loop header, so that a phase can start right behind it.
void splitAtBarriers(llvm::Function& kernel) {
  std::vector<Instruction*> barriers;
  for (auto& block : kernel)
    for (auto& instruction : block)
      if (barrierOf(instruction).kind != BarrierKind::None) barriers.push_back(&instruction);
  for (Instruction* barrier : barriers) {
    BasicBlock* block = barrier->getParent();
    if (barrier == &block->front() && block->getSinglePredecessor()) continue;
    SplitBlock(block, barrier);
  }
}

/// The steps, on one module.
class Preparation {
public:
  PreparedModule run(const Module& device, const Facts& facts, const std::vector<std::string>& only) {
    cloneReached(device, facts, only);
    keepCarries(*prepared.module);
    markForInlining();
    for (auto* kernel : kernels) copyStructParameters(*kernel);
    passes.run(*prepared.module, "always-inline");
    promoteScalars();
    bool hasPtx = false;
    for (auto* kernel : kernels) hasPtx = readInlinePtx(*kernel) || hasPtx;
    if (hasPtx) { // libcu++ chooses by the order that it is given, which is a constant by now
      passes.run(*prepared.module, "function(instsimplify)");
      for (auto* kernel : kernels) dropFoldedWays(*kernel);
      passes.run(*prepared.module, "function(instsimplify)");
    }
    bool waits = false;
    for (auto* kernel : kernels) {
      foldSpaces(*kernel);
      waits = waitInsteadOfPolling(*kernel) || waits;
    }
    if (waits) {
      passes.run(*prepared.module, "function(instsimplify)");
      for (auto* kernel : kernels) dropFoldedWays(*kernel);
    }
    separateMembers(prepared);
    prepared.writtenVariables = writtenVariables(device); // by kernels that nobody has asked for, too
    prepared.writtenVariables.merge(writtenVariables(*prepared.module));
    for (KernelCode& kernel : prepared.kernels) takeMarks(*kernel.function, kernel.mayReadUnwritten);
    makeReducible();
    for (auto* kernel : kernels) {
      dropUnreachableWays(*kernel);
      countWalkers(*kernel);
      writeOutTableLoops(*kernel);
      readLocalTables(*kernel);
      splitAtBarriers(*kernel);
    }
    passes.run(*prepared.module, "function(loop-simplify,lcssa)");
    return std::move(prepared);
  }

private:
  /// What the wanted kernels reach, with all whose address is taken where a call through a pointer is among
  /// it.
  void cloneReached(const Module& device, const Facts& facts, const std::vector<std::string>& only) {
    std::vector<const llvm::Function*> wanted;
    for (const Kernel& kernel : facts.kernels) {
      if (!only.empty() && std::find(only.begin(), only.end(), kernel.symbol) == only.end()) continue;
      const llvm::Function* function = device.getFunction(kernel.symbol);
      if (!function || function->isDeclaration()) continue;
      wanted.push_back(function);
      prepared.kernels.push_back({&kernel, nullptr, {}, {}});
    }
    std::set<const llvm::Function*> takenThere; // in `device`
    for (const llvm::Function& function : device)
      if (function.hasAddressTaken()) takenThere.insert(&function);
    auto reached = reachableFrom(wanted, takenThere);
    ValueToValueMapTy map;
    prepared.module =
        CloneModule(device, map, [&](const GlobalValue* value) { return reached.count(value) != 0; });
    for (const llvm::Function* function : takenThere)
      if (auto* copy = dyn_cast_or_null<llvm::Function>(map.lookup(function))) taken.insert(copy);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      prepared.kernels[i].function = prepared.module->getFunction(wanted[i]->getName());
      kernels.insert(prepared.kernels[i].function);
    }
  }

  void markForInlining() {
    recursive = recursiveFunctions(*prepared.module);
    for (auto& function : *prepared.module) {
      function.removeFnAttr(Attribute::NoInline);
      function.removeFnAttr(Attribute::OptimizeNone);
      if (isGridBarrierFunction(function) && !function.isDeclaration()) function.deleteBody();
      if (function.isDeclaration() || kernels.count(&function)) continue;
      function.setLinkage(taken.count(&function)
                              ? GlobalValue::ExternalLinkage // else it goes when it seems unused
                              : GlobalValue::InternalLinkage);
      function.setComdat(nullptr);
      if (!recursive.count(&function)) function.addFnAttr(Attribute::AlwaysInline);
    }
  }

  /// As often as calls through pointers and recursion written out bring new code in.
  void promoteScalars() {
    for (int round = 0; round < 4; ++round) {
      for (KernelCode& kernel : prepared.kernels) {
        markCopies(*kernel.function, prepared);
        pinOverrunLocals(*kernel.function);
        markLocals(*kernel.function, kernel.mayReadUnwritten);
      }
      const SitesByPlace sites(*prepared.module);
      constexpr const char* promotion = "function(sroa<modify-cfg>,mem2reg,sroa<modify-cfg>)";
      passes.run(*prepared.module, promotion);
      bool isSplit = false;
      for (auto* kernel : kernels) isSplit = splitMembers(*kernel) || isSplit;
      if (isSplit) passes.run(*prepared.module, promotion);
      sites.giveBack(*prepared.module);
      bool changed = promoteIndirectCalls(*prepared.module, taken);
      for (KernelCode& kernel : prepared.kernels) changed = writeOutRecursionOf(kernel) || changed;
      if (!changed) break;
      passes.run(*prepared.module, "always-inline");
    }
  }

  bool writeOutRecursionOf(KernelCode& kernel) {
    if (!writeOutRecursion(*kernel.function, recursive)) return false;
    // Where the callee has read its locals before it wrote them does not show any more.
    if (!kernel.mayReadUnwritten)
      kernel.mayReadUnwritten = {kernel.kernel->where,
                                 "whether a recursive function writes its locals before "
                                 "it reads them is not followed"};
    return true;
  }

  /// Loops that are entered in their middle get a head.
  void makeReducible() {
    for (auto* kernel : kernels)
      if (isIrreducible(*kernel)) {
        foldConstants(*kernel);
        enterLoopsAtTheirHead(*kernel);
      }
    bool irreducible =
        std::any_of(kernels.begin(), kernels.end(), [](llvm::Function* f) { return isIrreducible(*f); });
    if (irreducible) passes.run(*prepared.module, "function(lower-switch,fix-irreducible)");
  }

  PreparedModule prepared;
  Passes passes;
  std::set<llvm::Function*> kernels;
  std::set<const llvm::Function*> taken; ///< whose address the program takes
  std::set<const llvm::Function*> recursive;
};

} // namespace

PreparedModule prepare(const Module& device, const Facts& facts, const std::vector<std::string>& only) {
  return Preparation().run(device, facts, only);
}

} // namespace kcheck::analyzer
