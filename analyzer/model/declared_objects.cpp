#include "analyzer/model/declared_objects.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

MemorySpace spaceOf(const GlobalVariable& variable) {
  switch (variable.getAddressSpace()) {
  case 3: return MemorySpace::Shared;
  case 4: return MemorySpace::Constant;
  default: return variable.isConstant() ? MemorySpace::Constant : MemorySpace::Global;
  }
}

/// `tile` of `_ZZ6kernelPfE4tile`, `table` of `table`: the last length-prefixed part of a mangled name.
std::string sourceName(StringRef name) {
  std::string best = name.str();
  if (!name.starts_with("_Z")) return best;
  for (std::size_t i = 2; i < name.size(); ++i) {
    if (!llvm::isDigit(name[i])) continue;
    std::size_t length = 0, at = i;
    while (at < name.size() && llvm::isDigit(name[at])) length = length * 10 + std::size_t(name[at++] - '0');
    if (length == 0 || at + length > name.size()) continue;
    best = name.substr(at, length).str();
    i = at + length - 1;
  }
  return best;
}

unsigned elementBytesOf(Type* type, const DataLayout& layout) {
  while (auto* array = dyn_cast<ArrayType>(type)) type = array->getElementType();
  return type->isSized() ? unsigned(layout.getTypeAllocSize(type).getFixedValue()) : 0;
}

} // namespace

unsigned globalObject(KernelState& state, const GlobalVariable& variable) {
  MemoryObject fresh;
  fresh.space = spaceOf(variable);
  fresh.elementBytes = elementBytesOf(variable.getValueType(), state.layout);
  fresh.name = sourceName(variable.getName());
  bool dynamic = fresh.space == MemorySpace::Shared && variable.isDeclaration();
  if (dynamic) { // all `extern __shared__` arrays are the same memory
    fresh.bytes = state.launch.sharedBytes;
    return state.objects.object("dynamic shared memory", fresh);
  }
  fresh.bytes = state.layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
  unsigned id = state.objects.object("@" + variable.getName().str(), fresh);
  state.globals[id] = &variable;
  return id;
}

unsigned localObject(KernelState& state, const AllocaInst& local) {
  MemoryObject object;
  object.name = local.hasName() ? local.getName().str() : "local array";
  object.space = MemorySpace::Local;
  object.elementBytes = elementBytesOf(local.getAllocatedType(), state.layout);
  if (auto size = local.getAllocationSize(state.layout)) object.bytes = size->getFixedValue();
  object.where = locationOf(local);
  return state.objects.object("local " + std::to_string(reinterpret_cast<std::uintptr_t>(&local)), object);
}

} // namespace kcheck::analyzer
