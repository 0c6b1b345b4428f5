#include "instrument/pass/ptx/builder.h"

#include "instrument/pass/registers.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <bit>
#include <cstddef>

namespace kcheck::instrument::ptx {

Builder::Builder(Lowering& lowering) : l(lowering), b(lowering.b) {
  auto* assembly = llvm::cast<llvm::InlineAsm>(l.call.getCalledOperand());
  auto* record = llvm::dyn_cast<llvm::StructType>(l.type());
  unsigned output = 0, argument = 0;
  for (const auto& constraint : assembly->ParseConstraints()) {
    if (constraint.Type == llvm::InlineAsm::isClobber) continue;
    if (constraint.isIndirect) wellFormed = false;
    if (constraint.Type == llvm::InlineAsm::isOutput) {
      llvm::Type* type = record ? record->getElementType(output) : l.type();
      outputs.push_back(variable(unsigned(type->getPrimitiveSizeInBits())));
      ++output;
      continue;
    }
    if (constraint.Type != llvm::InlineAsm::isInput || argument >= l.call.arg_size()) {
      wellFormed = false;
      continue;
    }
    llvm::Value* value = asInteger(l.operand(argument++));
    inputs.push_back(value);
    const std::string& code = constraint.Codes.front();
    if (!code.empty() && std::isdigit(static_cast<unsigned char>(code[0]))) {
      llvm::AllocaInst* tied = outputs.at(std::stoul(code));
      b.CreateStore(b.CreateZExtOrTrunc(value, tied->getAllocatedType()), tied);
    }
  }
}

llvm::AllocaInst* Builder::variable(unsigned bits) {
  llvm::BasicBlock& entry = l.call.getFunction()->getEntryBlock();
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
    value = special(operand.name);
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

llvm::Value* Builder::fromShared(llvm::Value* offset) {
  auto* block = loadField(b, b.getPtrTy(), l.thread(), offsetof(abi::ThreadContext, block));
  auto* window = loadField(b, b.getPtrTy(), block, offsetof(abi::BlockContext, shared));
  for (llvm::LoadInst* own : {block, window})
    own->setMetadata("kcheck.own", llvm::MDNode::get(b.getContext(), {}));
  auto* low = b.CreateTrunc(b.CreatePtrToInt(window, b.getInt64Ty()), b.getInt32Ty());
  auto* distance = b.CreateSub(b.CreateZExtOrTrunc(offset, b.getInt32Ty()), low);
  return b.CreateGEP(b.getInt8Ty(), window, b.CreateSExt(distance, b.getInt64Ty()));
}

llvm::Value* Builder::address(const Operand& operand, const std::string& space) {
  const Operand& base = operand.kind == Operand::Kind::Address ? operand.parts.front() : operand;
  auto* number = bits(base, {Type::Kind::Bits, 64, 1});
  bool isShared = space == "shared" || space == "shared::cta" || space == "shared::cluster";
  llvm::Value* pointer = isShared ? fromShared(number) : b.CreateIntToPtr(number, b.getPtrTy());
  return operand.offset ? b.CreateConstGEP1_64(b.getInt8Ty(), pointer, std::uint64_t(operand.offset))
                        : pointer;
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

llvm::Value* Builder::special(const std::string& name) {
  if (name == "clock" || name == "clock64" || name == "globaltimer" || name == "clock_hi" ||
      name == "globaltimer_lo") {
    auto* time = l.runtime(Call::kcClock);
    if (name == "clock_hi") return b.CreateLShr(time, 32);
    return time;
  }
  if (name == "reserved_smem_offset_1") { // where cooperative groups keep the barriers of multi-warp tiles
    constexpr const char* kName = "%reserved";
    llvm::GlobalVariable* reserved = l.code.module.getNamedGlobal(kName);
    if (!reserved) {
      auto* type = llvm::ArrayType::get(b.getInt8Ty(), 1024);
      reserved = new llvm::GlobalVariable(l.code.module, type, false, llvm::GlobalValue::InternalLinkage,
                                          llvm::UndefValue::get(type), kName, nullptr,
                                          llvm::GlobalValue::NotThreadLocal, 3);
      reserved->setAlignment(llvm::Align(16));
    }
    return b.CreatePtrToInt(b.CreateAddrSpaceCast(reserved, b.getPtrTy()), b.getInt64Ty());
  }
  return isKnownRegister(name) ? registerMarker(b, name) : nullptr;
}

llvm::Value* Builder::results() {
  if (outputs.empty()) return nullptr;
  auto load = [&](unsigned i, llvm::Type* type) -> llvm::Value* {
    llvm::Value* value = b.CreateLoad(outputs[i]->getAllocatedType(), outputs[i]);
    return type->isPointerTy() ? b.CreateIntToPtr(value, type) : b.CreateBitCast(value, type);
  };
  auto* record = llvm::dyn_cast<llvm::StructType>(l.type());
  if (!record) return load(0, l.type());
  llvm::Value* all = llvm::PoisonValue::get(record);
  for (unsigned i = 0; i < outputs.size(); ++i)
    all = b.CreateInsertValue(all, load(i, record->getElementType(i)), i);
  return all;
}

} // namespace kcheck::instrument::ptx
