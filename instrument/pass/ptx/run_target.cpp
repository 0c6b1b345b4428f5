// Inline PTX to IR. What has no rule becomes a report at that place, never a guess.
#include "instrument/pass/ptx/run_target.h"

#include "instrument/pass/abi_calls.h"
#include "instrument/pass/registers.h"
#include "instrument/pass/stages.h"
#include "ptx/assembly.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include <cctype>
#include <cstddef>

namespace kcheck::instrument {

namespace {

using ptx::Builder, ptx::Rules, ptx::Statement;

/// Not an access of the program's.
template <typename T> T* own(T* access) {
  access->setMetadata(kOwnMetadata, llvm::MDNode::get(access->getContext(), {}));
  return access;
}

const Rules& ownRules() {
  static const Rules rules = [] {
    Rules table;
    addSpaces(table);
    addSynchronisation(table);
    addTextures(table);
    addAsync(table);
    addMatrices(table);
    return table;
  }();
  return rules;
}

/// isspacep.SPACE p, a
bool isSpace(Builder& p, const Statement& s) {
  if (s.opcode.size() != 2 || s.operands.size() != 2) return false;
  auto* actual = loweringOf(p).runtime(Call::kcSpace, {p.address(s.operands[1], "")});
  auto is = [&](MemorySpace which) { return p.b.CreateICmpEQ(actual, p.b.getInt32(std::uint32_t(which))); };
  const std::string& space = s.opcode[1];
  llvm::Value* holds = space.starts_with("shared") ? is(MemorySpace::Shared)
                       : space == "local"          ? is(MemorySpace::Local)
                       : space == "const"          ? is(MemorySpace::Constant)
                       : space == "global" ? p.b.CreateOr(is(MemorySpace::Global), is(MemorySpace::Constant))
                                           : nullptr;
  if (!holds) return false;
  p.write(s.operands[0], holds);
  return true;
}

} // namespace

void addSpaces(Rules& rules) { rules["isspacep"] = isSpace; }

llvm::SyncScope::ID RunTarget::scopeId(llvm::LLVMContext&, Scope scope) { return l.scopeId(scope); }

void RunTarget::made(llvm::Instruction& instruction) {
  if (!llvm::isa<llvm::FenceInst>(instruction)) l.sited(&instruction);
}

llvm::Value* RunTarget::special(llvm::IRBuilder<>& b, const std::string& name) {
  if (name == "clock" || name == "clock64" || name == "globaltimer" || name == "globaltimer_lo")
    return l.runtime(Call::kcClock);
  if (name == "clock_hi" || name == "globaltimer_hi") return b.CreateLShr(l.runtime(Call::kcClock), 32);
  if (name.starts_with("pm") && name.size() > 2 && std::isdigit(static_cast<unsigned char>(name[2])))
    return b.getInt64(0);                 // counters that no profiler has started
  if (name == "reserved_smem_offset_1") { // where cooperative groups keep the barriers of multi-warp tiles
    llvm::GlobalVariable* reserved = l.code.module.getNamedGlobal(abi::kReservedShared);
    if (!reserved) {
      auto* type = llvm::ArrayType::get(b.getInt8Ty(), 1024);
      reserved = new llvm::GlobalVariable(l.code.module, type, false, llvm::GlobalValue::InternalLinkage,
                                          llvm::UndefValue::get(type), abi::kReservedShared, nullptr,
                                          llvm::GlobalValue::NotThreadLocal, 3);
      reserved->setAlignment(llvm::Align(16));
    }
    return b.CreatePtrToInt(b.CreateAddrSpaceCast(reserved, b.getPtrTy()), b.getInt64Ty());
  }
  return isKnownRegister(name) ? registerMarker(b, name) : nullptr;
}

llvm::Value* RunTarget::fromShared(llvm::IRBuilder<>& b, llvm::Value* offset) {
  auto* block = loadField(b, b.getPtrTy(), l.thread(), offsetof(abi::ThreadContext, block));
  auto* window = loadField(b, b.getPtrTy(), block, offsetof(abi::BlockContext, shared));
  for (llvm::LoadInst* load : {block, window}) own(load);
  auto* low = b.CreateTrunc(b.CreatePtrToInt(window, b.getInt64Ty()), b.getInt32Ty());
  auto* distance = b.CreateSub(b.CreateZExtOrTrunc(offset, b.getInt32Ty()), low);
  return b.CreateGEP(b.getInt8Ty(), window, b.CreateSExt(distance, b.getInt64Ty()));
}

namespace {

llvm::Value* carryField(Lowering& l) {
  return byteOffset(l.b, l.thread(), offsetof(abi::ThreadContext, carry));
}

} // namespace

llvm::Value* RunTarget::carry(llvm::IRBuilder<>& b) {
  return b.CreateTrunc(own(b.CreateLoad(b.getInt32Ty(), carryField(l))), b.getInt1Ty());
}

void RunTarget::setCarry(llvm::IRBuilder<>& b, llvm::Value* carry) {
  own(b.CreateStore(b.CreateZExt(carry, b.getInt32Ty()), carryField(l)));
}

llvm::Value* lowerAssembly(Lowering& l) {
  RunTarget target(l);
  std::string failure;
  const Rules* const rules[] = {&ptx::commonRules(), &ownRules()};
  if (auto result = ptx::translate(l.call, l.b, target, rules, failure)) return *result;
  l.b.SetInsertPoint(&l.call);
  return l.unsupported("PTX `" + failure + "`");
}

} // namespace kcheck::instrument
