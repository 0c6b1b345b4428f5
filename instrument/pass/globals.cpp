#include "instrument/pass/globals.h"

#include "report/metadata.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace kcheck::instrument {

namespace {

constexpr unsigned kSharedSpace = 3, kConstantSpace = 4;
constexpr const char* kText = "kcheck.text";

bool namesVariable(const llvm::Constant& constant) {
  if (llvm::isa<llvm::GlobalVariable>(constant)) return true;
  if (llvm::isa<llvm::GlobalValue>(constant)) return false;
  for (const llvm::Value* operand : constant.operands())
    if (const auto* inner = llvm::dyn_cast<llvm::Constant>(operand); inner && namesVariable(*inner))
      return true;
  return false;
}

struct Relocation {
  std::uint64_t offset;
  llvm::Constant* value;
};

/// The initial value without the addresses of other variables, which are stored one by one afterwards.
llvm::Constant* withoutAddresses(const llvm::DataLayout& layout, llvm::Constant* value, std::uint64_t offset,
                                 std::vector<Relocation>& relocations) {
  if (!namesVariable(*value)) return value;
  if (!llvm::isa<llvm::ConstantAggregate>(value)) {
    relocations.push_back({offset, value});
    return llvm::Constant::getNullValue(value->getType());
  }
  std::vector<llvm::Constant*> parts;
  auto* record = llvm::dyn_cast<llvm::StructType>(value->getType());
  for (unsigned i = 0; i < value->getNumOperands(); ++i) {
    auto* part = llvm::cast<llvm::Constant>(value->getOperand(i));
    std::uint64_t place = record ? layout.getStructLayout(record)->getElementOffset(i).getFixedValue()
                                 : i * layout.getTypeAllocSize(part->getType()).getFixedValue();
    parts.push_back(withoutAddresses(layout, part, offset + place, relocations));
  }
  if (record) return llvm::ConstantStruct::get(record, parts);
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(value->getType()))
    return llvm::ConstantArray::get(array, parts);
  return llvm::ConstantVector::get(parts);
}

void writeInitialValue(DeviceCode& code, llvm::IRBuilder<>& builder, llvm::GlobalVariable& variable,
                       const GlobalCode& global) {
  std::vector<Relocation> relocations;
  auto* plain = withoutAddresses(code.module.getDataLayout(), variable.getInitializer(), 0, relocations);
  auto* place = builder.CreateLoad(builder.getPtrTy(), global.slot);
  if (!plain->isNullValue()) {
    auto* image = new llvm::GlobalVariable(code.module, plain->getType(), true,
                                           llvm::GlobalValue::PrivateLinkage, plain, kText);
    image->setAlignment(llvm::Align(16));
    builder.CreateMemCpy(place, llvm::Align(global.align), image, llvm::Align(16), global.bytes);
  }
  for (const Relocation& relocation : relocations)
    builder.CreateAlignedStore(relocation.value, byteOffset(builder, place, relocation.offset),
                               llvm::Align(1));
}

} // namespace

std::map<const llvm::GlobalVariable*, llvm::GlobalVariable*> makeSlots(DeviceCode& code) {
  llvm::Module& module = code.module;
  auto* pointer = llvm::PointerType::get(module.getContext(), 0);
  std::vector<llvm::GlobalVariable*> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() != kSharedSpace && !isHostText(variable)) variables.push_back(&variable);

  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), false);
  code.initialise =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "kcheck.initialise", module);
  code.initialise->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", code.initialise));
  std::map<const llvm::GlobalVariable*, llvm::GlobalVariable*> slots;
  for (llvm::GlobalVariable* variable : variables) {
    if (variable->isDeclaration()) { // threadIdx and its like are only named, never read
      if (variable->hasExternalWeakLinkage()) continue;
      code.unsupported.push_back("device variable `" + variable->getName().str() +
                                 "` is declared, not defined");
      continue;
    }
    GlobalCode global;
    global.name = variable->getName().str();
    global.bytes = module.getDataLayout().getTypeAllocSize(variable->getValueType()).getFixedValue();
    global.align = std::uint32_t(
        variable->getAlign().value_or(module.getDataLayout().getPreferredAlign(variable)).value());
    bool isConstant = variable->getAddressSpace() == kConstantSpace || variable->isConstant();
    global.space = isConstant ? MemorySpace::Constant : MemorySpace::Global;
    global.isManaged = variable->hasAttribute(kManagedAttribute);
    llvm::Constant* initial = variable->getInitializer();
    global.zeroInitialised = initial->isNullValue() || llvm::isa<llvm::UndefValue>(initial);
    global.slot = new llvm::GlobalVariable(module, pointer, false, llvm::GlobalValue::InternalLinkage,
                                           llvm::ConstantPointerNull::get(pointer), kText);
    slots[variable] = global.slot;
    if (!global.zeroInitialised) writeInitialValue(code, builder, *variable, global);
    code.globals.push_back(global);
  }
  builder.CreateRetVoid();
  return slots;
}

llvm::Constant* hostText(llvm::Module& module, llvm::StringRef text) {
  auto* value = llvm::ConstantDataArray::getString(module.getContext(), text);
  return new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value,
                                  kText);
}

bool isHostText(const llvm::GlobalVariable& variable) { return variable.getName().starts_with(kText); }

} // namespace kcheck::instrument
