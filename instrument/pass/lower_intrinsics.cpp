// nvvm intrinsics on memory, time and addresses.
#include "instrument/pass/lowering.h"
#include "ptx/read_only.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

namespace kcheck::instrument {

namespace {

llvm::Value* generic(Lowering& l, llvm::Value* address) {
  return address->getType()->getPointerAddressSpace() == 0 ? address
                                                           : l.b.CreateAddrSpaceCast(address, l.b.getPtrTy());
}

/// isspacep.SPACE(ptr)
llvm::Value* isSpace(Lowering& l, llvm::StringRef space) {
  auto* actual = l.runtime(Call::kcSpace, {generic(l, l.operand(0))});
  auto is = [&](MemorySpace which) { return l.b.CreateICmpEQ(actual, l.b.getInt32(std::uint32_t(which))); };
  if (space == "shared" || space == "shared.cluster") return is(MemorySpace::Shared);
  if (space == "local") return is(MemorySpace::Local);
  if (space == "const") return is(MemorySpace::Constant);
  if (space != "global") return nullptr;
  // Constant variables are global memory to isspacep.global on the hardware as well.
  return l.b.CreateOr(is(MemorySpace::Global), is(MemorySpace::Constant));
}

bool isLoad(llvm::StringRef name) {
  return name.starts_with("ldg.global.") || name.starts_with("ldu.global.");
}

} // namespace

bool lowerIntrinsic(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  if (isLoad(name)) {
    auto* align = llvm::dyn_cast<llvm::ConstantInt>(l.operand(1));
    auto* read =
        l.load(l.type(), l.operand(0), llvm::Align(align && !align->isZero() ? align->getZExtValue() : 1));
    ptx::markReadOnly(*read);
    value = read;
  } else if (name.consume_front("isspacep.")) {
    value = isSpace(l, name);
    if (!value) value = l.unsupported("intrinsic `llvm.nvvm.isspacep." + name.str() + "`");
  } else if (name == "read.ptx.sreg.clock" || name == "read.ptx.sreg.clock.hi") {
    auto* time = l.runtime(Call::kcClock);
    value = l.b.CreateTrunc(name.ends_with("hi") ? l.b.CreateLShr(time, 32) : time, l.type());
  } else if (name == "read.ptx.sreg.clock64" || name == "read.ptx.sreg.globaltimer") {
    value = l.runtime(Call::kcClock);
  } else if (name == "nanosleep") {
    l.wait({.kind = abi::WaitKind::Yield});
  } else if (name == "exit") {
    l.runtime(Call::kcExit);
  } else if (name.starts_with("ptr.")) { // ptr.gen.to.shared and its relatives
    value = l.b.CreateAddrSpaceCast(l.operand(0), l.type());
  } else if (name.starts_with("prefetch")) {
    value = nullptr;
  } else {
    return false;
  }
  return true;
}

} // namespace kcheck::instrument
