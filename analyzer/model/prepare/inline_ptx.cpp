// Each asm statement is translated in a function of its own, which is inlined where all of it was understood.
#include "analyzer/model/prepare/inline_ptx.h"

#include "analyzer/model/prepare/barrier_objects.h"
#include "analyzer/model/prepare/carries.h"
#include "ptx/assembly.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <vector>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

using ptx::Operand, ptx::Statement;

constexpr const char* kThreadEnds = "kcheck.thread.ends";
const ptx::Type kWord{ptx::Type::Kind::Unsigned, 32, 1};

class ModelTarget : public ptx::Target {
public:
  explicit ModelTarget(CallInst& call) : call(call) {}

  /// As clang has it for the toolkit's atomics: what is not the block's is the device's.
  SyncScope::ID scopeId(LLVMContext& context, ptx::Scope scope) override {
    return scope == ptx::Scope::Block ? context.getOrInsertSyncScopeID("block") : SyncScope::System;
  }

  Value* fromShared(IRBuilder<>& b, Value* address) override {
    auto* low = b.CreateZExtOrTrunc(address, b.getInt32Ty());
    return b.CreateAddrSpaceCast(b.CreateIntToPtr(low, b.getPtrTy(3)), b.getPtrTy());
  }

  Value* special(IRBuilder<>& b, const std::string& name) override {
    std::string dotted = "llvm.nvvm.read.ptx.sreg." + name;
    std::ranges::replace(dotted, '_', '.');
    const Intrinsic::ID id = llvm::Function::lookupIntrinsicID(dotted);
    // What the driver says in envreg is the same for all threads: known of the asm statement as a whole.
    if (id == Intrinsic::not_intrinsic || name.starts_with("envreg")) return nullptr;
    return b.CreateIntrinsic(id, {}, {});
  }

  Value* carry(IRBuilder<>& b) override { return readCarry(b); }
  void setCarry(IRBuilder<>& b, Value* carry) override { writeCarry(b, carry); }

  void made(Instruction& instruction) override {
    if (!isa<FenceInst>(instruction)) instruction.copyMetadata(call);
    const auto order = [&] {
      if (auto* load = dyn_cast<LoadInst>(&instruction)) return load->getOrdering();
      if (auto* store = dyn_cast<StoreInst>(&instruction)) return store->getOrdering();
      if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) return update->getOrdering();
      if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) return exchange->getSuccessOrdering();
      if (isa<CallInst>(instruction)) return AtomicOrdering::NotAtomic;
      return cast<InlineAsm>(call.getCalledOperand())->getAsmString().find("fence.") != std::string::npos
                 ? AtomicOrdering::AcquireRelease
                 : AtomicOrdering::NotAtomic;
    }();
    if (isAcquireOrStronger(order) || isReleaseOrStronger(order))
      instruction.setMetadata(kOrdersByPtx, MDNode::get(call.getContext(), {}));
  }

private:
  CallInst& call;
};

/// bar.red.OP: the block's vote at barrier 0.
bool votingBarrier(ptx::Builder& p, const Statement& s) {
  if (s.operands.size() != 3 || s.operands[1].kind != Operand::Kind::Immediate || s.operands[1].bits != 0)
    return false;
  const Intrinsic::ID id = s.has("popc")  ? Intrinsic::nvvm_barrier0_popc
                           : s.has("and") ? Intrinsic::nvvm_barrier0_and
                                          : Intrinsic::nvvm_barrier0_or;
  Value* holds = p.b.CreateZExt(p.predicate(s.operands[2]), p.b.getInt32Ty());
  Value* result = p.b.CreateIntrinsic(id, {}, {holds});
  p.write(s.operands[0], s.has("popc") ? result : p.b.CreateICmpNE(result, p.b.getInt32(0)));
  return true;
}

/// bar.sync and barrier.sync of a barrier that is counted by threads, and bar.warp.sync.
bool barrier(ptx::Builder& p, const Statement& s) {
  if (s.has("red")) return votingBarrier(p, s);
  if (s.has("arrive")) return arriveAtName(p, s);
  if (!s.has("sync") || s.has("cluster")) return false;
  const bool isAligned = s.opcode[0] == "bar" || s.has("aligned");
  std::vector<Value*> operands;
  for (const Operand& operand : s.operands) operands.push_back(p.bits(operand, kWord));
  if (s.has("warp")) {
    if (operands.size() != 1) return false;
    p.b.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, operands);
  } else if (operands.size() == 1) {
    p.b.CreateIntrinsic(isAligned ? Intrinsic::nvvm_barrier_n : Intrinsic::nvvm_barrier_sync, {}, operands);
  } else if (operands.size() == 2) {
    p.b.CreateIntrinsic(isAligned ? Intrinsic::nvvm_barrier : Intrinsic::nvvm_barrier_sync_cnt, {}, operands);
  } else {
    return false;
  }
  return true;
}

/// shfl.sync.MODE.b32 d, a, b, c, mask; with a predicate as well it is not understood.
bool shuffle(ptx::Builder& p, const Statement& s) {
  if (!s.has("sync") || s.operands.size() != 5 || s.operands[0].kind == Operand::Kind::Pair) return false;
  const unsigned id = s.has("up")     ? unsigned(Intrinsic::nvvm_shfl_sync_up_i32)
                      : s.has("down") ? unsigned(Intrinsic::nvvm_shfl_sync_down_i32)
                      : s.has("bfly") ? unsigned(Intrinsic::nvvm_shfl_sync_bfly_i32)
                      : s.has("idx")  ? unsigned(Intrinsic::nvvm_shfl_sync_idx_i32)
                                      : unsigned(Intrinsic::not_intrinsic);
  if (id == Intrinsic::not_intrinsic) return false;
  auto operand = [&](unsigned i) { return p.bits(s.operands[i], kWord); };
  p.write(s.operands[0], p.b.CreateIntrinsic(id, {}, {operand(4), operand(1), operand(2), operand(3)}));
  return true;
}

/// vote.sync.MODE d, {!}p, mask
bool vote(ptx::Builder& p, const Statement& s) {
  if (!s.has("sync") || s.operands.size() != 3) return false;
  const unsigned id = s.has("all")      ? unsigned(Intrinsic::nvvm_vote_all_sync)
                      : s.has("any")    ? unsigned(Intrinsic::nvvm_vote_any_sync)
                      : s.has("uni")    ? unsigned(Intrinsic::nvvm_vote_uni_sync)
                      : s.has("ballot") ? unsigned(Intrinsic::nvvm_vote_ballot_sync)
                                        : unsigned(Intrinsic::not_intrinsic);
  if (id == Intrinsic::not_intrinsic) return false;
  p.write(s.operands[0],
          p.b.CreateIntrinsic(id, {}, {p.bits(s.operands[2], kWord), p.predicate(s.operands[1])}));
  return true;
}

/// match.any.sync.b32 d, a, mask
bool matchAny(ptx::Builder& p, const Statement& s) {
  if (!s.has("any") || !s.has("sync") || s.type() != "b32" || s.operands.size() != 3) return false;
  p.write(s.operands[0], p.b.CreateIntrinsic(Intrinsic::nvvm_match_any_sync_i32, {},
                                             {p.bits(s.operands[2], kWord), p.bits(s.operands[1], kWord)}));
  return true;
}

bool activeLanes(ptx::Builder& p, const Statement& s) {
  if (s.operands.size() != 1) return false;
  p.write(s.operands[0], p.b.CreateIntrinsic(Intrinsic::nvvm_activemask, {}, {}));
  return true;
}

bool trap(ptx::Builder& p, const Statement&) {
  p.b.CreateIntrinsic(Intrinsic::trap, {}, {});
  return true;
}

bool nothing(ptx::Builder&, const Statement&) { return true; }

bool endThread(ptx::Builder& p, const Statement&) {
  p.b.CreateCall(p.call.getModule()->getOrInsertFunction(kThreadEnds, p.b.getVoidTy()));
  return true;
}

const ptx::Rules& ownRules() {
  static const ptx::Rules rules{
      {"bar", barrier},       {"barrier", barrier},       {"shfl", shuffle},
      {"vote", vote},         {"match", matchAny},        {"activemask", activeLanes},
      {"nanosleep", nothing}, {"exit", endThread},        {"ret", endThread},
      {"trap", trap},         {"setmaxnreg", nothing},    {"brkpt", nothing},
      {"pmevent", nothing},   {"mbarrier", barrierObject}};
  return rules;
}

/// A function that does what the asm statement does, of its operands; null where that is not understood.
llvm::Function* standIn(const CallInst& call) {
  std::vector<Type*> types;
  for (const Use& argument : call.args()) types.push_back(argument->getType());
  auto* function =
      llvm::Function::Create(FunctionType::get(call.getType(), types, false), GlobalValue::InternalLinkage,
                             "kcheck.ptx", const_cast<Module*>(call.getModule()));
  auto* entry = BasicBlock::Create(call.getContext(), "entry", function);
  auto* copy = llvm::cast<CallInst>(call.clone());
  copy->insertInto(entry, entry->end());
  copy->setDebugLoc({});
  for (unsigned i = 0; i < types.size(); ++i) copy->setArgOperand(i, function->getArg(i));
  IRBuilder<> b(entry);
  if (call.getType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(copy);
  b.SetInsertPoint(copy);

  ModelTarget target(*copy);
  std::string failure;
  const ptx::Rules* const rules[] = {&ptx::commonRules(), &ownRules()};
  const auto result = ptx::translate(*copy, b, target, rules, failure);
  if (!result) {
    function->eraseFromParent();
    return nullptr;
  }
  if (*result) copy->replaceAllUsesWith(*result);
  copy->eraseFromParent();
  std::vector<AllocaInst*> registers;
  for (Instruction& instruction : function->getEntryBlock())
    if (auto* alloca = dyn_cast<AllocaInst>(&instruction)) registers.push_back(alloca);
  DominatorTree dominators(*function);
  PromoteMemToReg(registers, dominators);
  return function;
}

void endThreads(llvm::Function& kernel) {
  std::vector<CallInst*> ends;
  for (Instruction& instruction : instructions(kernel))
    if (auto* call = dyn_cast<CallInst>(&instruction);
        call && call->getCalledFunction() && call->getCalledFunction()->getName() == kThreadEnds)
      ends.push_back(call);
  for (CallInst* call : ends) {
    BasicBlock* block = call->getParent();
    SplitBlock(block, call);
    block->getTerminator()->eraseFromParent();
    ReturnInst::Create(kernel.getContext(), block);
    call->eraseFromParent();
  }
  if (!ends.empty()) removeUnreachableBlocks(kernel);
}

} // namespace

bool readInlinePtx(llvm::Function& kernel) {
  std::vector<CallInst*> calls;
  for (Instruction& instruction : instructions(kernel))
    if (auto* call = dyn_cast<CallInst>(&instruction); call && call->isInlineAsm()) calls.push_back(call);
  bool changed = false;
  for (CallInst* call : calls) {
    llvm::Function* meaning = standIn(*call);
    if (!meaning) continue;
    call->setCalledOperand(meaning);
    InlineFunctionInfo info;
    InlineFunction(*call, info);
    meaning->eraseFromParent();
    changed = true;
  }
  connectCarries(kernel);
  endThreads(kernel);
  return changed;
}

} // namespace kcheck::analyzer
