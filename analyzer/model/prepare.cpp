#include "analyzer/model/prepare.h"
#include "analyzer/model/barriers.h"
#include "analyzer/model/carries.h"
#include "analyzer/model/flow.h"
#include "analyzer/model/inline_ptx.h"
#include "analyzer/model/local_tables.h"
#include "analyzer/model/table_loops.h"
#include "analyzer/model/unreachable.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/CallPromotionUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
#include <map>
#include <tuple>

namespace kcheck::analyzer {

PreparedModule::PreparedModule() = default;
PreparedModule::~PreparedModule() = default;
PreparedModule::PreparedModule(PreparedModule&&) noexcept = default;

SiteId siteOf(const Instruction& instruction, bool readSide) {
  MDNode* node = readSide ? instruction.getMetadata(kSourceSiteMetadata) : nullptr;
  if (!node) node = instruction.getMetadata(kSiteMetadata);
  if (!node || node->getNumOperands() == 0) return kNoSite;
  auto* number = mdconst::dyn_extract<ConstantInt>(node->getOperand(0));
  return number ? SiteId(number->getZExtValue()) : kNoSite;
}

SiteId wholeOf(const Instruction& instruction) {
  auto* node = instruction.getMetadata(kPieceMetadata);
  return node ? SiteId(mdconst::extract<ConstantInt>(node->getOperand(0))->getZExtValue()) : kNoSite;
}

Location locationOf(const Instruction& instruction) {
  const DILocation* place = instruction.getDebugLoc();
  if (!place) return {};
  while (const DILocation* caller = place->getInlinedAt()) place = caller;
  return {place->getFilename().str(), place->getLine(), place->getColumn(), 0};
}

namespace {

/// Adds what `value` mentions, through constants and function bodies.
void addReachable(const Value* value, std::set<const Value*>& reached,
                  std::vector<const llvm::Function*>& bodies) {
  if (!isa<Constant>(value) || !reached.insert(value).second) return;
  if (auto* function = dyn_cast<llvm::Function>(value)) {
    if (!function->isDeclaration()) bodies.push_back(function);
    return;
  }
  for (const Use& use : cast<Constant>(value)->operands()) addReachable(use, reached, bodies);
}

bool callsThroughPointer(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  return call && call->isIndirectCall() && !isa<InlineAsm>(call->getCalledOperand());
}

/// What the kernels reach; through pointers, every function whose address the program takes.
std::set<const Value*> reachableFrom(const std::vector<const llvm::Function*>& kernels,
                                     const std::set<const llvm::Function*>& taken) {
  std::set<const Value*> reached;
  std::vector<const llvm::Function*> bodies;
  for (auto* kernel : kernels) addReachable(kernel, reached, bodies);
  while (!bodies.empty()) {
    const llvm::Function* function = bodies.back();
    bodies.pop_back();
    for (auto& block : *function)
      for (auto& instruction : block) {
        for (const Use& operand : instruction.operands()) addReachable(operand, reached, bodies);
        if (callsThroughPointer(instruction))
          for (const llvm::Function* target : taken) addReachable(target, reached, bodies);
      }
  }
  return reached;
}

std::set<const llvm::Function*> recursiveFunctions(Module& module) {
  std::set<const llvm::Function*> result;
  CallGraph graph(module);
  for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc)
    if (scc.hasCycle())
      for (CallGraphNode* node : *scc)
        if (node->getFunction()) result.insert(node->getFunction());
  return result;
}

/// A struct passed by value becomes a local copy, so that scalar promotion sees its fields.
void copyStructParameters(llvm::Function& kernel) {
  const DataLayout& layout = kernel.getDataLayout();
  for (llvm::Argument& argument : kernel.args()) {
    if (!argument.hasByValAttr()) continue;
    IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
    auto* copy = builder.CreateAlloca(argument.getParamByValType());
    argument.replaceAllUsesWith(copy);
    builder.CreateMemCpy(copy, argument.getParamAlign(), &argument, argument.getParamAlign(),
                         layout.getTypeAllocSize(argument.getParamByValType()).getFixedValue());
  }
}

/// Calls through pointers become comparisons against every function of the type whose address is taken. What
/// is called then is one of them: the module is the whole program.
bool promoteIndirectCalls(Module& module, const std::set<const llvm::Function*>& taken) {
  std::vector<CallInst*> calls;
  for (auto& function : module)
    for (auto& block : function)
      for (auto& instruction : block)
        if (callsThroughPointer(instruction)) calls.push_back(cast<CallInst>(&instruction));
  bool changed = false;
  for (CallInst* call : calls) {
    std::vector<llvm::Function*> targets;
    for (auto& candidate : module)
      if (!candidate.isDeclaration() && taken.count(&candidate) &&
          candidate.getFunctionType() == call->getFunctionType())
        targets.push_back(&candidate);
    if (targets.empty()) continue; // left as it is: the model reports it
    for (llvm::Function* target : drop_end(targets)) promoteCallWithIfThenElse(*call, target);
    promoteCall(*call, targets.back());
    changed = true;
  }
  return changed;
}

/// Copies between a local and other memory: the other side's access must survive when the local goes.
void markCopies(llvm::Function& kernel, PreparedModule& prepared) {
  Module& module = *kernel.getParent();
  LLVMContext& context = module.getContext();
  auto marker =
      module.getOrInsertFunction(kAccessMarker, Type::getVoidTy(context), PointerType::get(context, 0),
                                 Type::getInt64Ty(context), Type::getInt1Ty(context));
  std::vector<MemIntrinsic*> copies;
  for (auto& block : kernel)
    for (auto& instruction : block)
      if (auto* copy = dyn_cast<MemIntrinsic>(&instruction)) copies.push_back(copy);
  for (MemIntrinsic* copy : copies) {
    auto* transfer = dyn_cast<MemTransferInst>(copy);
    bool toLocal = isa<AllocaInst>(getUnderlyingObject(copy->getRawDest()));
    bool fromLocal = transfer && isa<AllocaInst>(getUnderlyingObject(transfer->getRawSource()));
    if (!transfer || toLocal == fromLocal || copy->getMetadata(kMarkedCopy)) continue;
    copy->setMetadata(kMarkedCopy, MDNode::get(context, {}));
    Value* other = toLocal ? transfer->getRawSource() : transfer->getRawDest();
    if (isa<llvm::Argument>(other) && cast<llvm::Argument>(other)->hasByValAttr()) continue;
    IRBuilder<> builder(copy);
    Value* pointer = builder.CreateAddrSpaceCast(other, PointerType::get(context, 0));
    auto* call =
        builder.CreateCall(marker, {pointer, builder.CreateZExt(copy->getLength(), builder.getInt64Ty()),
                                    builder.getInt1(fromLocal)});
    call->setDebugLoc(copy->getDebugLoc());
    if (auto* site = copy->getMetadata(fromLocal ? kSiteMetadata : kSourceSiteMetadata))
      call->setMetadata(kSiteMetadata, site);
    if (copy->getDebugLoc()) prepared.copies.insert(copy->getDebugLoc());
  }
}

/// Scalar promotion deletes accesses at constant offsets outside a local array. Where there is one the array
/// is kept, by letting its address escape.
void pinOverrunLocals(llvm::Function& kernel) {
  const DataLayout& layout = kernel.getDataLayout();
  std::set<AllocaInst*> overrun;
  for (auto& block : kernel)
    for (auto& instruction : block) {
      const Value* pointer = getLoadStorePointerOperand(&instruction);
      if (!pointer) continue;
      APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
      auto* base = const_cast<Value*>(pointer->stripAndAccumulateConstantOffsets(layout, offset, true));
      auto* local = dyn_cast<AllocaInst>(base);
      if (!local || !local->getAllocationSize(layout)) continue;
      std::int64_t size = std::int64_t(local->getAllocationSize(layout)->getFixedValue());
      std::int64_t bytes =
          std::int64_t(layout.getTypeStoreSize(getLoadStoreType(&instruction)).getFixedValue());
      if (offset.getSExtValue() < 0 || offset.getSExtValue() + bytes > size) overrun.insert(local);
    }
  Module& module = *kernel.getParent();
  auto pin = module.getOrInsertFunction("kcheck.pin", Type::getVoidTy(module.getContext()),
                                        PointerType::get(module.getContext(), 0));
  for (AllocaInst* local : overrun) IRBuilder<>(local->getNextNode()).CreateCall(pin, {local});
}

/// Promotion splits the accesses of a copied structure and leaves the pieces without their site. Where one
/// site alone stands at their place, they are told as pieces of it.
class SitesByPlace {
public:
  explicit SitesByPlace(const Module& module) : kind(module.getMDKindID("kcheck.site")) {
    for (const auto& function : module)
      for (const Instruction& instruction : instructions(function))
        if (MDNode* site = instruction.getMetadata(kind)) {
          auto [known, isNew] = sites.try_emplace(keyOf(instruction), site);
          if (!isNew && known->second != site) known->second = nullptr;
        }
  }
  void giveBack(Module& module) const {
    for (auto& function : module)
      for (Instruction& instruction : instructions(function)) {
        if (!isa<LoadInst>(instruction) && !isa<StoreInst>(instruction)) continue;
        if (instruction.getMetadata(kind) || !instruction.getDebugLoc()) continue;
        auto known = sites.find(keyOf(instruction));
        if (known != sites.end() && known->second) instruction.setMetadata(kPieceMetadata, known->second);
      }
  }

private:
  using Key = std::tuple<const llvm::Function*, const DILocation*, unsigned>;
  static Key keyOf(const Instruction& instruction) {
    return {instruction.getFunction(), instruction.getDebugLoc().get(), instruction.getOpcode()};
  }
  unsigned kind;
  std::map<Key, MDNode*> sites;
};

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
      written.insert(variable->getName().str());
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

} // namespace

PreparedModule prepare(const Module& device, const Facts& facts, const std::vector<std::string>& only) {
  PreparedModule prepared;
  std::vector<const llvm::Function*> wanted;
  for (const Kernel& kernel : facts.kernels) {
    if (!only.empty() && std::find(only.begin(), only.end(), kernel.symbol) == only.end()) continue;
    const llvm::Function* function = device.getFunction(kernel.symbol);
    if (!function || function->isDeclaration()) continue;
    wanted.push_back(function);
    prepared.kernels.push_back({&kernel, nullptr, {}});
  }
  std::set<const llvm::Function*> takenThere, taken; // in `device`, in the clone
  for (const llvm::Function& function : device)
    if (function.hasAddressTaken()) takenThere.insert(&function);
  auto reached = reachableFrom(wanted, takenThere);
  ValueToValueMapTy map;
  prepared.module =
      CloneModule(device, map, [&](const GlobalValue* value) { return reached.count(value) != 0; });
  Module& module = *prepared.module;
  for (const llvm::Function* function : takenThere)
    if (auto* copy = dyn_cast_or_null<llvm::Function>(map.lookup(function))) taken.insert(copy);
  std::set<llvm::Function*> kernels;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    prepared.kernels[i].function = module.getFunction(wanted[i]->getName());
    kernels.insert(prepared.kernels[i].function);
  }
  keepCarries(module);
  auto recursive = recursiveFunctions(module);
  for (auto& function : module) {
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
  for (auto* kernel : kernels) copyStructParameters(*kernel);
  Passes passes;
  passes.run(module, "always-inline");
  for (int round = 0; round < 4; ++round) {
    for (KernelCode& kernel : prepared.kernels) {
      markCopies(*kernel.function, prepared);
      pinOverrunLocals(*kernel.function);
      markLocals(*kernel.function, kernel.mayReadUnwritten);
    }
    const SitesByPlace sites(module);
    passes.run(module, "function(sroa<modify-cfg>,mem2reg,sroa<modify-cfg>)");
    sites.giveBack(module);
    bool changed = promoteIndirectCalls(module, taken);
    for (KernelCode& kernel : prepared.kernels)
      if (writeOutRecursion(*kernel.function, recursive)) {
        // Where the callee has read its locals before it wrote them does not show any more.
        if (!kernel.mayReadUnwritten)
          kernel.mayReadUnwritten = {kernel.kernel->where,
                                     "whether a recursive function writes its locals before "
                                     "it reads them is not followed"};
        changed = true;
      }
    if (!changed) break;
    passes.run(module, "always-inline");
  }
  bool hasPtx = false;
  for (auto* kernel : kernels) hasPtx = readInlinePtx(*kernel) || hasPtx;
  if (hasPtx) passes.run(module, "function(instsimplify)");
  prepared.writtenVariables = writtenVariables(device); // by kernels that nobody has asked for, too
  prepared.writtenVariables.merge(writtenVariables(module));
  for (KernelCode& kernel : prepared.kernels) takeMarks(*kernel.function, kernel.mayReadUnwritten);
  for (auto* kernel : kernels)
    if (isIrreducible(*kernel)) {
      foldConstants(*kernel);
      enterLoopsAtTheirHead(*kernel);
    }
  bool irreducible =
      std::any_of(kernels.begin(), kernels.end(), [](llvm::Function* f) { return isIrreducible(*f); });
  if (irreducible) passes.run(module, "function(lower-switch,fix-irreducible)");
  for (auto* kernel : kernels) {
    dropUnreachableWays(*kernel);
    writeOutTableLoops(*kernel);
    readLocalTables(*kernel);
    splitAtBarriers(*kernel);
  }
  passes.run(module, "function(loop-simplify,lcssa)");
  return prepared;
}

} // namespace kcheck::analyzer
