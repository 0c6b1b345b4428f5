#include "instrument/pass/launch_distances.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kcheck::instrument {

namespace {

constexpr unsigned kDeepest = 16;

/// A pointer as a value and a constant distance from it.
std::pair<const llvm::Value*, std::uint64_t> withoutOffset(const llvm::Value* pointer,
                                                           const llvm::DataLayout& layout) {
  llvm::APInt offset(64, 0);
  const llvm::Value* base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
  return {base, offset.getZExtValue()};
}

/// Copies what is the same for all threads of a launch into a function that is called once.
class Copier {
public:
  Copier(llvm::Function& from, llvm::Function& to)
      : builder(llvm::BasicBlock::Create(to.getContext(), "", &to)) {
    for (unsigned i = 0; i < 2; ++i) copies[from.getArg(i)] = to.getArg(i);
  }

  llvm::Value* valueOf(const AddressSum& sum) {
    llvm::Value* result = builder.getInt64(0);
    for (const auto& [factors, coefficient] : sum.terms) {
      llvm::Value* term = builder.getInt64(coefficient);
      for (const AddressFactor& factor : factors) term = builder.CreateMul(term, wide(factor));
      result = builder.CreateAdd(result, term);
    }
    return result;
  }
  llvm::IRBuilder<> builder;

private:
  llvm::ValueToValueMapTy copies;

  llvm::Value* wide(const AddressFactor& factor) {
    llvm::Value* value = copyOf(factor.value);
    if (value->getType()->isPointerTy()) return builder.CreatePtrToInt(value, builder.getInt64Ty());
    return factor.extension == Extension::Zero ? builder.CreateZExt(value, builder.getInt64Ty())
                                               : builder.CreateSExt(value, builder.getInt64Ty());
  }

  llvm::Value* copyOf(llvm::Value* value) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction) return copies.count(value) ? static_cast<llvm::Value*>(copies[value]) : value;
    if (!copies.count(value)) {
      llvm::Instruction* copy = instruction->clone();
      for (llvm::Use& operand : copy->operands()) operand.set(copyOf(operand.get()));
      copy->dropPoisonGeneratingFlags();
      copy->setDebugLoc({});
      builder.Insert(copy);
      copies[value] = copy;
    }
    return copies[value];
  }
};

} // namespace

std::optional<std::uint16_t> LaunchDistances::numberOf(const AddressSum& sum) {
  for (const auto& [factors, coefficient] : sum.terms)
    for (const AddressFactor& factor : factors)
      if (!isFixed(factor.value)) return std::nullopt;
  auto known = std::find_if(distances.begin(), distances.end(),
                            [&](const AddressSum& distance) { return distance.terms == sum.terms; });
  if (known == distances.end()) {
    if (distances.size() >= std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
    known = distances.insert(known, {sum.terms, 0});
  }
  return std::uint16_t(known - distances.begin() + 1);
}

bool LaunchDistances::isFixed(const llvm::Value* value, unsigned depth) {
  if (llvm::isa<llvm::ConstantInt, llvm::ConstantPointerNull>(value)) return true;
  if (!llvm::isa<llvm::Instruction>(value) || depth == kDeepest) return false;
  auto known = fixed.find(value);
  return known != fixed.end() ? known->second : fixed[value] = findFixed(value, depth + 1);
}

bool LaunchDistances::findFixed(const llvm::Value* value, unsigned depth) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) {
    if (!load->isSimple()) return false;
    for (const GlobalCode& global : code.globals)
      if (load->getPointerOperand() == global.slot) return true;
    const llvm::DataLayout& layout = code.module.getDataLayout();
    auto [base, offset] = withoutOffset(load->getPointerOperand(), layout);
    if (base == kernel.entry->getArg(1)) return true;
    const auto* record = llvm::dyn_cast<llvm::LoadInst>(base);
    if (!record || offset < offsetof(abi::BlockContext, blockDim) ||
        offset >= offsetof(abi::BlockContext, dynamicShared))
      return false;
    auto [thread, field] = withoutOffset(record->getPointerOperand(), layout);
    return thread == kernel.entry->getArg(0) && field == offsetof(abi::ThreadContext, block);
  }
  const auto& instruction = *llvm::cast<llvm::Instruction>(value);
  bool isPlain =
      llvm::isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::ICmpInst, llvm::SelectInst>(instruction);
  if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value))
    isPlain = !operation->isIntDivRem();
  bool isNumber = value->getType()->isIntegerTy() || value->getType()->isPointerTy();
  return isPlain && isNumber &&
         std::all_of(instruction.op_begin(), instruction.op_end(),
                     [&](const llvm::Use& operand) { return isFixed(operand.get(), depth); });
}

void LaunchDistances::finish() {
  if (distances.empty()) return;
  llvm::LLVMContext& context = code.module.getContext();
  auto* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, pointer}, false);
  kernel.distances = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                            "kcheck.distances." + kernel.symbol, code.module);
  kernel.distances->addFnAttr(llvm::Attribute::NoUnwind);
  kernel.distanceCount = std::uint32_t(distances.size());
  Copier copier(*kernel.entry, *kernel.distances);
  llvm::IRBuilder<>& builder = copier.builder;
  for (std::size_t i = 0; i < distances.size(); ++i)
    builder.CreateStore(copier.valueOf(distances[i]),
                        byteOffset(builder, kernel.distances->getArg(2), i * sizeof(std::int64_t)));
  builder.CreateRetVoid();
}

} // namespace kcheck::instrument
