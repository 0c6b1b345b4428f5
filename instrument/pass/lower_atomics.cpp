// Scoped atomics and fences. What comes out names its scope, unlike clang's own `atomicrmw ... seq_cst` for
// atomicAdd, which insertHooks reads as CUDA defines it.
#include "instrument/pass/lowering.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Function.h>

namespace kcheck::instrument {

namespace {

using Operation = llvm::AtomicRMWInst::BinOp;
constexpr auto kRelaxed = llvm::AtomicOrdering::Monotonic;

/// clang gives the signed and unsigned forms of scoped min and max the same intrinsic; only the header
/// function around it still tells them apart (`__uAtomicMax_block`, or a mangled parameter `Pj`, `Py`, `Pm`).
bool isUnsigned(const Lowering& l) {
  llvm::StringRef function = l.call.getFunction()->getName();
  return function.contains("__uAtomic") || function.contains("__ullAtomic") || function.ends_with("Pjj") ||
         function.ends_with("Pyy") || function.ends_with("Pmm");
}

std::optional<Operation> operationOf(const Lowering& l, llvm::StringRef name, bool isFloat) {
  if (name == "add") return isFloat ? Operation::FAdd : Operation::Add;
  if (name == "max") return isUnsigned(l) ? Operation::UMax : Operation::Max;
  if (name == "min") return isUnsigned(l) ? Operation::UMin : Operation::Min;
  return llvm::StringSwitch<std::optional<Operation>>(name)
      .Case("exch", Operation::Xchg)
      .Case("inc", Operation::UIncWrap)
      .Case("dec", Operation::UDecWrap)
      .Case("and", Operation::And)
      .Case("or", Operation::Or)
      .Case("xor", Operation::Xor)
      .Default(std::nullopt);
}

/// atomic.OP.gen.{i,f}.{cta,sys}.TYPE.p0
bool lowerScoped(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  name.split(parts, '.');
  if (parts.size() < 5 || parts[0] != "atomic" || parts[2] != "gen") return false;
  Scope scope = parts[4] == "cta" ? Scope::Block : Scope::System;
  if (parts[1] == "cas") {
    value = l.compareExchange(l.operand(0), l.operand(1), l.operand(2), kRelaxed, scope);
    return true;
  }
  auto operation = operationOf(l, parts[1], parts[3] == "f");
  if (!operation) return false;
  value = l.update(*operation, l.operand(0), l.operand(1), kRelaxed, scope);
  return true;
}

} // namespace

bool lowerAtomic(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  if (name.starts_with("atomic.load.inc.32")) {
    value = l.update(Operation::UIncWrap, l.operand(0), l.operand(1), kRelaxed, Scope::Device);
  } else if (name.starts_with("atomic.load.dec.32")) {
    value = l.update(Operation::UDecWrap, l.operand(0), l.operand(1), kRelaxed, Scope::Device);
  } else if (name.starts_with("atomic.load.add.")) {
    value = l.update(Operation::FAdd, l.operand(0), l.operand(1), kRelaxed, Scope::Device);
  } else if (name == "membar.cta") {
    l.fence(Scope::Block);
  } else if (name == "membar.gl") {
    l.fence(Scope::Device);
  } else if (name == "membar.sys") {
    l.fence(Scope::System);
  } else {
    return lowerScoped(l, name, value);
  }
  return true;
}

} // namespace kcheck::instrument
