// The list of instructions that access memory, and how.
#include "frontend/memory_operation.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace kcheck::frontend {
namespace {

std::uint64_t sizeOf(llvm::Type* type, const llvm::Instruction& instruction) {
  if (!type->isSized()) return 0;
  return instruction.getModule()->getDataLayout().getTypeStoreSize(type).getFixedValue();
}

std::uint64_t constantOr0(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant ? constant->getZExtValue() : 0;
}

const llvm::Value* firstPointer(const llvm::CallBase& call) {
  for (const llvm::Value* argument : call.args())
    if (argument->getType()->isPointerTy()) return argument;
  return nullptr;
}

/// `llvm.nvvm.*` by name: the atomics have dozens of overloads.
std::vector<MemoryOperation> nvvmOperations(const llvm::CallBase& call, llvm::StringRef name) {
  const llvm::Value* pointer = firstPointer(call);
  if (!pointer) return {};
  const bool isVoid = call.getType()->isVoidTy();
  const std::uint64_t result = isVoid ? 0 : sizeOf(call.getType(), call);
  if (name.starts_with("llvm.nvvm.atomic.")) return {{AccessKind::Atomic, pointer, result}};
  if (name.starts_with("llvm.nvvm.ldg.") || name.starts_with("llvm.nvvm.ldu."))
    return {{AccessKind::Read, pointer, result}};
  if (name.starts_with("llvm.nvvm.wmma.") && name.contains(".load"))
    return {{AccessKind::Read, pointer, result}};
  if (name.starts_with("llvm.nvvm.wmma.") && name.contains(".store"))
    return {{AccessKind::Write, pointer, 0}};
  if (name.starts_with("llvm.nvvm.ldmatrix.")) return {{AccessKind::Read, pointer, result}};
  if (name.starts_with("llvm.nvvm.cp.async.") && call.arg_size() >= 2 &&
      call.getArgOperand(1)->getType()->isPointerTy()) {
    std::uint64_t bytes = 0;
    name.substr(name.rfind('.') + 1).getAsInteger(10, bytes);
    return {{AccessKind::Write, call.getArgOperand(0), bytes},
            {AccessKind::Read, call.getArgOperand(1), bytes}};
  }
  if (name.starts_with("llvm.nvvm.mbarrier.") && !name.contains("pending.count"))
    return {{AccessKind::Atomic, pointer, 8}};
  return {};
}

bool mentions(llvm::StringRef text, std::initializer_list<const char*> opcodes) {
  for (const char* opcode : opcodes) {
    for (std::size_t at = text.find(opcode); at != llvm::StringRef::npos; at = text.find(opcode, at + 1)) {
      const bool starts =
          at == 0 || !(llvm::isAlnum(text[at - 1]) || text[at - 1] == '_' || text[at - 1] == '.');
      if (starts) return true;
    }
  }
  return false;
}

/// Bytes that a PTX memory opcode moves: `.v4.f32` is 16.
std::uint64_t ptxBytes(llvm::StringRef text) {
  std::uint64_t lanes = 1, bits = 0;
  if (text.contains(".v2.")) lanes = 2;
  if (text.contains(".v4.")) lanes = 4;
  for (auto [suffix, width] : {std::pair{"128", 128}, {"64", 64}, {"32", 32}, {"16", 16}, {"8", 8}})
    for (const char* type : {".b", ".u", ".s", ".f"})
      if (bits == 0 && text.contains(std::string(type) + suffix)) bits = std::uint64_t(width);
  return lanes * bits / 8;
}

std::vector<MemoryOperation> assemblyOperations(const llvm::CallBase& call, llvm::StringRef text) {
  const llvm::Value* pointer = firstPointer(call);
  const std::uint64_t bytes = ptxBytes(text);
  // Loads and stores with an order or a scope are atomic (cuda::atomic).
  const bool isOrdered =
      text.contains(".relaxed.") || text.contains(".acquire.") || text.contains(".release.");
  if (mentions(text, {"atom.", "red.", "mbarrier."}) || (isOrdered && mentions(text, {"ld.", "st."})))
    return {{AccessKind::Atomic, pointer, bytes}};
  if (mentions(text, {"cp.async.ca.", "cp.async.cg.", "cp.async.bulk."}))
    return {{AccessKind::Write, nullptr, 0}, {AccessKind::Read, nullptr, 0}};
  if (mentions(text, {"st.", "wmma.store", "stmatrix"})) return {{AccessKind::Write, pointer, bytes}};
  if (mentions(text, {"ld.", "ldu.", "wmma.load", "ldmatrix"})) return {{AccessKind::Read, pointer, bytes}};
  return {};
}

} // namespace

std::vector<MemoryOperation> memoryOperations(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return {{load->isAtomic() ? AccessKind::Atomic : AccessKind::Read, load->getPointerOperand(),
             sizeOf(load->getType(), instruction)}};
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return {{store->isAtomic() ? AccessKind::Atomic : AccessKind::Write, store->getPointerOperand(),
             sizeOf(store->getValueOperand()->getType(), instruction)}};
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return {{AccessKind::Atomic, update->getPointerOperand(), sizeOf(update->getType(), instruction)}};
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return {{AccessKind::Atomic, exchange->getPointerOperand(),
             sizeOf(exchange->getCompareOperand()->getType(), instruction)}};
  if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
    const std::uint64_t bytes = constantOr0(copy->getLength());
    return {{AccessKind::Write, copy->getRawDest(), bytes}, {AccessKind::Read, copy->getRawSource(), bytes}};
  }
  if (const auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction))
    return {{AccessKind::Write, fill->getRawDest(), constantOr0(fill->getLength())}};
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call) return {};
  if (const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
    return assemblyOperations(*call, assembly->getAsmString());
  if (const llvm::Function* callee = call->getCalledFunction(); callee && callee->isIntrinsic())
    return nvvmOperations(*call, callee->getName());
  return {};
}

} // namespace kcheck::frontend
