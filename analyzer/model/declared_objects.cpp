#include "analyzer/model/declared_objects.h"

#include "analyzer/model/prepare/member_objects.h"

#include "llvm/Demangle/Demangle.h"
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

unsigned elementBytesOf(Type* type, const DataLayout& layout) {
  while (auto* array = dyn_cast<ArrayType>(type)) type = array->getElementType();
  return type->isSized() ? unsigned(layout.getTypeAllocSize(type).getFixedValue()) : 0;
}

/// `tile` of `_ZZ6kernelPfE4tile`, which is `kernel(float*)::tile`; `table` of `table`.
std::string sourceName(const GlobalVariable& variable) {
  const std::string whole = demangle(wholeName(variable));
  StringRef name = StringRef(whole).split(" (.").first; // a copy of a function has one, too
  int open = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    open += name[i] == '>' || name[i] == ')' ? 1 : name[i] == '<' || name[i] == '(' ? -1 : 0;
    if (open == 0 && name[i] == ':') return name.substr(i + 1).str();
  }
  return name.str();
}

} // namespace

unsigned globalObject(KernelState& state, const GlobalVariable& variable) {
  MemoryObject fresh;
  fresh.space = spaceOf(variable);
  fresh.elementBytes = elementBytesOf(variable.getValueType(), state.layout);
  fresh.name = sourceName(variable);
  bool dynamic = fresh.space == MemorySpace::Shared && variable.isDeclaration();
  if (dynamic) { // all `extern __shared__` arrays are the same memory
    fresh.bytes = state.launch.sharedBytes;
    return state.objects.object("dynamic shared memory", fresh);
  }
  fresh.bytes = state.layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
  const bool isApart = !state.launch.keepsWhole;
  if (isApart) fresh.part = partOf(variable);
  unsigned id = state.objects.object("@" + (isApart ? variable.getName().str() : wholeName(variable)), fresh);
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
