// Which axes of a launch a kernel looks at, and for which launches it is written.
#include "analyzer/model/fences.h"
#include "analyzer/model/model_builder.h"
#include "report/metadata.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace kcheck::analyzer {

/// `blockDim.x == 256` and `gridDim.y != 8` say for which launches a kernel is written.
static void noteWanted(const Instruction& instruction, UsedAxes& used) {
  auto* compare = dyn_cast<ICmpInst>(&instruction);
  if (!compare || !compare->isEquality()) return;
  auto* dimension = dyn_cast<IntrinsicInst>(compare->getOperand(0));
  auto* number = dyn_cast<ConstantInt>(compare->getOperand(1));
  if (!dimension || !number || number->getBitWidth() > 32 || number->isZero()) return;
  std::uint32_t* wanted = nullptr;
  switch (dimension->getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x: wanted = &used.wantedBlock[0]; break;
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y: wanted = &used.wantedBlock[1]; break;
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z: wanted = &used.wantedBlock[2]; break;
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x: wanted = &used.wantedGrid[0]; break;
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y: wanted = &used.wantedGrid[1]; break;
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z: wanted = &used.wantedGrid[2]; break;
  default: return;
  }
  if (*wanted == 0) *wanted = std::uint32_t(number->getZExtValue());
}

/// What `__launch_bounds__` says; 0 where it is not there.
static std::uint32_t launchBound(const llvm::Function& kernel) {
  const NamedMDNode* annotations = kernel.getParent()->getNamedMetadata("nvvm.annotations");
  if (!annotations) return 0;
  std::uint32_t threads = 1;
  bool isGiven = false;
  for (const MDNode* node : annotations->operands())
    for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
      const auto* key = dyn_cast<MDString>(node->getOperand(i));
      if (!key || !key->getString().starts_with("maxntid") ||
          mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0)) != &kernel)
        continue;
      threads *= std::uint32_t(mdconst::extract<ConstantInt>(node->getOperand(i + 1))->getZExtValue());
      isGiven = true;
    }
  return isGiven ? threads : 0;
}

/// Memory that blocks have for themselves.
static bool isOfBlock(const Value* pointer) {
  const Value* object = getUnderlyingObject(pointer, 0);
  auto* variable = dyn_cast<GlobalVariable>(object);
  constexpr unsigned kShared = 3;
  return isa<AllocaInst>(object) || (variable && variable->getAddressSpace() == kShared);
}

/// As below, of inline PTX: what it says is in its text.
static bool textSpeaksOfBlocks(const InlineAsm& assembly) {
  StringRef rest = assembly.getAsmString();
  constexpr StringRef kEnds = " \t\n;{}[],";
  while (!(rest = rest.ltrim(kEnds)).empty()) {
    const StringRef word = rest.take_until([&](char c) { return kEnds.contains(c); });
    rest = rest.drop_front(word.size());
    for (StringRef start : {"atom.", "red.", "membar.", "fence."})
      if (word.starts_with(start) && !word.contains(".cta") && !word.contains(".shared")) return true;
    for (StringRef part : {"ctaid", "gridid", "smid", "%cluster", "barrier.cluster", ".volatile", ".acquire",
                           ".release", ".relaxed", ".gpu", ".sys", "call"})
      if (word.contains(part)) return true;
  }
  return false;
}

/// What functions begin with that a thread calls for itself alone: mathematics, output, its heap (`new`,
/// `delete`).
constexpr StringRef kOfThread[] = {"__nv_", "vprintf", "__assertfail", "malloc", "free",
                                   "_Znw",  "_Zna",    "_Zdl",         "_Zda"};

/// Whether the instruction tells blocks apart, or lets them work together.
static bool speaksOfBlocks(const Instruction& instruction) {
  if (isa<FenceInst>(instruction)) return fenceReach(instruction) >= kDeviceReach;
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) return !isOfBlock(update->getPointerOperand());
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return !isOfBlock(exchange->getPointerOperand());
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return (load->isVolatile() || load->isAtomic()) && !isOfBlock(load->getPointerOperand());
  if (auto* store = dyn_cast<StoreInst>(&instruction))
    return (store->isVolatile() || store->isAtomic()) && !isOfBlock(store->getPointerOperand());
  auto* call = dyn_cast<CallBase>(&instruction);
  if (!call) return false;
  if (auto* assembly = dyn_cast<InlineAsm>(call->getCalledOperand())) return textSpeaksOfBlocks(*assembly);
  auto* callee = call->getCalledFunction();
  if (!callee) return false; // a pointer to a function: nothing is proved of such a kernel
  StringRef name = callee->getName();
  if (!callee->isIntrinsic())
    return none_of(kOfThread, [&](StringRef start) { return name.starts_with(start); });
  if (!name.consume_front("llvm.nvvm.")) return false;
  for (StringRef word : {"ctaid", "gridid", "smid", "nsmid", "cluster", "atomic", "membar.gl", "membar.sys"})
    if (name.contains(word)) return true;
  return false;
}

/// Whether anything comes of it: blockIdx handed on as a whole is read along all axes.
static bool isLookedAt(const Instruction& read) {
  SmallVector<const Instruction*, 16> todo{&read};
  SmallPtrSet<const Instruction*, 16> seen;
  while (!todo.empty()) {
    const Instruction* instruction = todo.pop_back_val();
    if (!seen.insert(instruction).second) continue;
    const bool isEnd = instruction->isTerminator() || instruction->mayReadOrWriteMemory() ||
                       instruction->mayHaveSideEffects();
    if (isEnd) return true;
    for (const User* user : instruction->users()) {
      const auto* part = dyn_cast<ExtractValueInst>(user);
      const Value* inserted =
          part ? FindInsertedValue(const_cast<Value*>(part->getAggregateOperand()), part->getIndices())
               : nullptr;
      const auto* origin = dyn_cast_or_null<Instruction>(inserted);
      if (inserted && !(origin && seen.contains(origin))) continue; // another part
      todo.push_back(cast<Instruction>(user));
    }
  }
  return false;
}

UsedAxes usedAxes(const llvm::Function& kernel) {
  UsedAxes used;
  if (none_of(instructions(kernel), speaksOfBlocks)) used.grid = 0; // one block's work
  used.mostThreads = launchBound(kernel);
  unsigned block = 0, grid = 0; // that it looks at
  for (auto& instruction : instructions(kernel)) {
    noteWanted(instruction, used);
    auto* call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call || !isLookedAt(*call)) continue;
    switch (call->getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    case Intrinsic::nvvm_read_ptx_sreg_ntid_x: block |= 1; break;
    case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    case Intrinsic::nvvm_read_ptx_sreg_ntid_y: block |= 2; break;
    case Intrinsic::nvvm_read_ptx_sreg_tid_z:
    case Intrinsic::nvvm_read_ptx_sreg_ntid_z: block |= 4; break;
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_x: grid |= 1; break;
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_y: grid |= 2; break;
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_z: grid |= 4; break;
    default: break;
    }
  }
  if (block) used.block = block;
  if (grid) used.grid = grid;
  const Attribute own = kernel.getFnAttribute(kOwnAxesAttribute);
  unsigned axes = 0;
  if (own.isValid() && !own.getValueAsString().getAsInteger(10, axes)) {
    used.ownBlock = axes & 7;
    used.ownGrid = axes >> 3;
    if (used.ownBlock) used.block &= used.ownBlock | 1;
    if (used.ownGrid) used.grid &= used.ownGrid | (used.grid & 1);
  }
  return used;
}

} // namespace kcheck::analyzer
