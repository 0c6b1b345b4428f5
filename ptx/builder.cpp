#include "ptx/builder.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <bit>

namespace kcheck::ptx {

Builder::Builder(llvm::CallInst& call, llvm::IRBuilder<>& b, Target& target)
    : call(call), b(b), target(target) {
  auto* assembly = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  auto* record = llvm::dyn_cast<llvm::StructType>(call.getType());
  unsigned output = 0, argument = 0;
  for (const auto& constraint : assembly->ParseConstraints()) {
    if (constraint.Type == llvm::InlineAsm::isClobber) continue;
    if (constraint.isIndirect) wellFormed = false;
    if (constraint.Type == llvm::InlineAsm::isOutput) {
      llvm::Type* type = record ? record->getElementType(output) : call.getType();
      outputs.push_back(variable(unsigned(type->getPrimitiveSizeInBits())));
      ++output;
      continue;
    }
    if (constraint.Type != llvm::InlineAsm::isInput || argument >= call.arg_size()) {
      wellFormed = false;
      continue;
    }
    llvm::Value* value = asInteger(call.getArgOperand(argument++));
    inputs.push_back(value);
    const std::string& code = constraint.Codes.front();
    if (!code.empty() && std::isdigit(static_cast<unsigned char>(code[0]))) {
      llvm::AllocaInst* tied = outputs.at(std::stoul(code));
      b.CreateStore(b.CreateZExtOrTrunc(value, tied->getAllocatedType()), tied);
    }
  }
}

llvm::AllocaInst* Builder::variable(unsigned bits) {
  llvm::BasicBlock& entry = call.getFunction()->getEntryBlock();
  llvm::IRBuilder<> start(&entry, entry.getFirstInsertionPt());
  auto* place = start.CreateAlloca(start.getIntNTy(bits));
  start.CreateStore(llvm::ConstantInt::get(place->getAllocatedType(), 0), place);
  return place;
}

llvm::Value* Builder::asInteger(llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (type->isPointerTy()) {
    if (type->getPointerAddressSpace() != 0) value = b.CreateAddrSpaceCast(value, b.getPtrTy());
    return b.CreatePtrToInt(value, b.getInt64Ty());
  }
  return b.CreateBitCast(value, b.getIntNTy(unsigned(type->getPrimitiveSizeInBits())));
}

namespace {

/// Names with a percent sign are names of their own.
std::string registerName(const Operand& operand) {
  return (operand.kind == Operand::Kind::Special ? "%" : "") + operand.name;
}

} // namespace

llvm::AllocaInst* Builder::find(const Operand& operand) {
  if (operand.kind == Operand::Kind::Placeholder)
    return operand.number < outputs.size() ? outputs[operand.number] : nullptr;
  if (operand.kind != Operand::Kind::Register && operand.kind != Operand::Kind::Special) return nullptr;
  auto found = registers.find(registerName(operand));
  return found != registers.end() ? found->second : nullptr;
}

llvm::Value* Builder::bits(const Operand& operand, const Type& type) {
  if (!operand.part.empty()) wellFormed = false; // the rules that know of parts ask for the whole
  auto* wanted = b.getIntNTy(type.width());
  if (operand.kind == Operand::Kind::Immediate) {
    std::uint64_t raw = operand.bits;
    if (operand.isFloat && type.isFloat() && type.bits == 32)
      raw = std::bit_cast<std::uint32_t>(float(std::bit_cast<double>(raw)));
    return llvm::ConstantInt::get(wanted->getContext(), llvm::APInt(64, raw).zextOrTrunc(type.width()));
  }
  llvm::Value* value = nullptr;
  if (llvm::AllocaInst* place = find(operand)) {
    value = b.CreateLoad(place->getAllocatedType(), place);
  } else if (operand.kind == Operand::Kind::Placeholder && operand.number - outputs.size() < inputs.size()) {
    value = inputs[operand.number - outputs.size()];
  } else if (operand.kind == Operand::Kind::Special) {
    value = target.special(b, operand.name);
  } else if (operand.kind == Operand::Kind::Vector) { // packs its parts, low part first
    unsigned width = type.width() / unsigned(operand.parts.size());
    value = llvm::ConstantInt::get(wanted, 0);
    for (std::size_t i = 0; i < operand.parts.size(); ++i) {
      auto* part = b.CreateZExt(bits(operand.parts[i], {Type::Kind::Bits, width, 1}), wanted);
      value = b.CreateOr(value, b.CreateShl(part, i * width));
    }
  }
  if (!value) {
    wellFormed = false;
    return llvm::ConstantInt::get(wanted, 0);
  }
  if (operand.negated) value = b.CreateNot(value);
  return b.CreateZExtOrTrunc(value, wanted);
}

llvm::Value* Builder::predicate(const Operand& operand) {
  return bits(operand, {Type::Kind::Predicate, 1, 1});
}

void Builder::write(const Operand& operand, llvm::Value* integer, bool isSigned) {
  if (operand.kind == Operand::Kind::Discard) return;
  if (operand.kind == Operand::Kind::Vector) {
    unsigned width = integer->getType()->getIntegerBitWidth() / unsigned(operand.parts.size());
    for (std::size_t i = 0; i < operand.parts.size(); ++i)
      write(operand.parts[i], b.CreateTrunc(b.CreateLShr(integer, i * width), b.getIntNTy(width)));
    return;
  }
  llvm::AllocaInst* place = find(operand);
  if (!place) {
    wellFormed = false;
    return;
  }
  auto* type = place->getAllocatedType();
  b.CreateStore(isSigned ? b.CreateSExtOrTrunc(integer, type) : b.CreateZExtOrTrunc(integer, type), place);
}

llvm::Value* Builder::address(const Operand& operand, const std::string& space) {
  const Operand& base = operand.kind == Operand::Kind::Address ? operand.parts.front() : operand;
  auto* number = bits(base, {Type::Kind::Bits, 64, 1});
  bool isShared = space == "shared" || space == "shared::cta" || space == "shared::cluster";
  auto* cast = llvm::dyn_cast<llvm::PtrToIntInst>(number);
  if (cast && cast->getPointerAddressSpace() != 0) cast = nullptr;
  llvm::Value* pointer = isShared ? target.fromShared(b, number)
                         : cast   ? cast->getPointerOperand()
                                  : b.CreateIntToPtr(number, b.getPtrTy());
  return operand.offset ? b.CreateConstGEP1_64(b.getInt8Ty(), pointer, std::uint64_t(operand.offset))
                        : pointer;
}

llvm::LoadInst* Builder::load(llvm::Type* type, llvm::Value* address, llvm::Align align) {
  auto* made = b.CreateAlignedLoad(type, address, align);
  target.made(*made);
  return made;
}

llvm::StoreInst* Builder::store(llvm::Value* value, llvm::Value* address, llvm::Align align) {
  auto* made = b.CreateAlignedStore(value, address, align);
  target.made(*made);
  return made;
}

llvm::Value* Builder::update(llvm::AtomicRMWInst::BinOp operation, llvm::Value* address, llvm::Value* value,
                             llvm::AtomicOrdering ordering, Scope scope) {
  auto* made = b.CreateAtomicRMW(operation, address, value, llvm::MaybeAlign(), ordering,
                                 target.scopeId(b.getContext(), scope));
  target.made(*made);
  return made;
}

llvm::Value* Builder::compareExchange(llvm::Value* address, llvm::Value* expected, llvm::Value* desired,
                                      llvm::AtomicOrdering ordering, Scope scope) {
  auto* made = b.CreateAtomicCmpXchg(address, expected, desired, llvm::MaybeAlign(), ordering,
                                     llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering),
                                     target.scopeId(b.getContext(), scope));
  target.made(*made);
  return b.CreateExtractValue(made, 0);
}

void Builder::fence(llvm::AtomicOrdering ordering, Scope scope) {
  target.made(*b.CreateFence(ordering, target.scopeId(b.getContext(), scope)));
}

void Builder::setAtomic(llvm::LoadInst& load, llvm::AtomicOrdering ordering, Scope scope) {
  load.setAtomic(ordering, target.scopeId(b.getContext(), scope));
  target.made(load);
}

void Builder::setAtomic(llvm::StoreInst& store, llvm::AtomicOrdering ordering, Scope scope) {
  store.setAtomic(ordering, target.scopeId(b.getContext(), scope));
  target.made(store);
}

llvm::Value* Builder::library(llvm::StringRef name, llvm::Type* result,
                              llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(result, types, false);
  return b.CreateCall(call.getModule()->getOrInsertFunction(name, type), arguments);
}

bool Builder::declare(const Statement& statement) {
  auto type = typeNamed(statement.type());
  if (!type) return false;
  for (const Operand& name : statement.operands) {
    if (name.number == 0) {
      registers[registerName(name)] = variable(type->width());
      continue;
    }
    for (unsigned i = 0; i < name.number; ++i)
      registers[registerName(name) + std::to_string(i)] = variable(type->width());
  }
  return true;
}

llvm::Value* Builder::results() {
  if (outputs.empty()) return nullptr;
  auto load = [&](unsigned i, llvm::Type* type) -> llvm::Value* {
    llvm::Value* value = b.CreateLoad(outputs[i]->getAllocatedType(), outputs[i]);
    return type->isPointerTy() ? b.CreateIntToPtr(value, type) : b.CreateBitCast(value, type);
  };
  auto* record = llvm::dyn_cast<llvm::StructType>(call.getType());
  if (!record) return load(0, call.getType());
  llvm::Value* all = llvm::PoisonValue::get(record);
  for (unsigned i = 0; i < outputs.size(); ++i)
    all = b.CreateInsertValue(all, load(i, record->getElementType(i)), i);
  return all;
}

} // namespace kcheck::ptx
