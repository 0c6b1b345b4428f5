// Functions of the math library that give or take values through pointers (sincos, frexp, norm): the library
// itself is not instrumented, so its accesses are made here, where the detectors see them.
#include "instrument/pass/lowering.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include <map>

namespace kcheck::instrument {

namespace {

/// A pointer argument behind which the function writes one value.
struct Output {
  unsigned argument;
  bool isInteger; ///< int, else the function's own floating-point type
};

const std::vector<Output>* outputsOf(llvm::StringRef name) {
  static const std::vector<Output> pair{{1, false}, {2, false}}, exponent{{1, true}}, whole{{1, false}},
      quotient{{2, true}};
  static const std::map<llvm::StringRef, const std::vector<Output>*> known{
      {"__nv_sincos", &pair},     {"__nv_sincosf", &pair},    {"__nv_fast_sincosf", &pair},
      {"__nv_sincospi", &pair},   {"__nv_sincospif", &pair},  {"__nv_frexp", &exponent},
      {"__nv_frexpf", &exponent}, {"__nv_modf", &whole},      {"__nv_modff", &whole},
      {"__nv_remquo", &quotient}, {"__nv_remquof", &quotient}};
  auto found = known.find(name);
  return found == known.end() ? nullptr : found->second;
}

bool isLocal(llvm::Value* pointer) { return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer)); }

llvm::AllocaInst* local(Lowering& l, llvm::Type* type) {
  llvm::BasicBlock& entry = l.call.getFunction()->getEntryBlock();
  llvm::IRBuilder<> start(&entry, entry.getFirstInsertionPt());
  return start.CreateAlloca(type);
}

/// The values go to local variables first, and from there to where the program wants them.
llvm::Value* storeOutputs(Lowering& l, const std::vector<Output>& outputs) {
  llvm::SmallVector<llvm::Value*, 4> arguments(l.call.args());
  llvm::Type* real = l.operand(0)->getType();
  for (const Output& output : outputs)
    arguments[output.argument] = local(l, output.isInteger ? l.b.getInt32Ty() : real);
  llvm::CallInst* call = l.b.CreateCall(l.call.getCalledFunction(), arguments);
  for (const Output& output : outputs) {
    auto* place = llvm::cast<llvm::AllocaInst>(arguments[output.argument]);
    llvm::Type* type = place->getAllocatedType();
    llvm::Align align(type->getPrimitiveSizeInBits() / 8);
    l.sited(
        l.b.CreateAlignedStore(l.b.CreateAlignedLoad(type, place, align), l.operand(output.argument), align));
  }
  return call;
}

} // namespace

bool lowerMath(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  if (const std::vector<Output>* outputs = outputsOf(name)) {
    bool allLocal = true;
    for (const Output& output : *outputs) allLocal = allLocal && isLocal(l.operand(output.argument));
    if (allLocal) return false;
    value = storeOutputs(l, *outputs);
    return true;
  }
  if (name.ends_with("norm") || name.ends_with("normf")) { // of an array
    if (l.call.arg_size() != 2 || isLocal(l.operand(1))) return false;
    unsigned bytes = name.ends_with("f") ? 4 : 8;
    std::uint32_t site = l.code.sites.add(abi::SiteKind::Read, bytes, l.call.getDebugLoc());
    llvm::Value* count = l.b.CreateSExt(l.operand(0), l.b.getInt64Ty());
    l.runtime(Call::kcRead, {l.operand(1), l.b.CreateMul(count, l.b.getInt64(bytes)), l.b.getInt32(site)});
  }
  return false;
}

} // namespace kcheck::instrument
