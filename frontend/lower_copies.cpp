// Splits llvm.memcpy of a constant small size. Padding is left out: nobody wrote it, and nobody reads it.
#include "frontend/lower_copies.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace kcheck::frontend {
namespace {

constexpr std::uint64_t kWidestAccess = 16; ///< bytes that one GPU instruction moves per thread
constexpr std::size_t kMostPieces = 16, kMostFields = 64;

struct Piece {
  std::uint64_t offset, bytes;
  bool isPointer = false;
};

/// The type of what the pointer leads to, where the pointer's making tells.
llvm::Type* pointee(const llvm::Value* pointer) {
  if (const auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer))
    return element->getResultElementType();
  if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(pointer)) return variable->getAllocatedType();
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(pointer);
  return global ? global->getValueType() : nullptr;
}

void collectFields(llvm::Type* type, std::uint64_t offset, const llvm::DataLayout& layout,
                   std::vector<Piece>& fields) {
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
    for (unsigned i = 0; i < record->getNumElements(); ++i)
      collectFields(record->getElementType(i), offset + layout.getStructLayout(record)->getElementOffset(i),
                    layout, fields);
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type);
             array && array->getNumElements() <= kWidestAccess * kMostPieces) {
    const std::uint64_t stride = layout.getTypeAllocSize(array->getElementType()).getFixedValue();
    for (std::uint64_t i = 0; i < array->getNumElements(); ++i)
      collectFields(array->getElementType(), offset + i * stride, layout, fields);
  } else {
    fields.push_back({offset, layout.getTypeStoreSize(type).getFixedValue(), type->isPointerTy()});
  }
}

/// The fields of the structure that either side was made as; empty when neither tells.
std::vector<Piece> fieldsByType(const llvm::MemTransferInst& copy, std::uint64_t bytes) {
  std::vector<Piece> fields;
  const llvm::DataLayout& layout = copy.getModule()->getDataLayout();
  for (const llvm::Value* side : {copy.getRawSource(), copy.getRawDest()}) {
    auto* record = llvm::dyn_cast_or_null<llvm::StructType>(pointee(side));
    if (!record || !record->isSized() || layout.getTypeAllocSize(record).getFixedValue() != bytes) continue;
    collectFields(record, 0, layout, fields);
    break;
  }
  return fields;
}

/// The fields of the copied object: as clang's aliasing metadata lists them, which it does not for classes
/// with bases, or else by its type; empty when neither tells.
std::vector<Piece> fieldsOf(const llvm::MemTransferInst& copy, std::uint64_t bytes) {
  const llvm::MDNode* node = copy.getMetadata(llvm::LLVMContext::MD_tbaa_struct);
  if (!node) return fieldsByType(copy, bytes);
  std::vector<Piece> fields;
  for (unsigned i = 0; i + 2 < node->getNumOperands(); i += 3)
    fields.push_back({llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(i))->getZExtValue(),
                      llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(i + 1))->getZExtValue()});
  return fields;
}

bool coverWithoutGaps(const std::vector<Piece>& fields, std::uint64_t bytes) {
  std::uint64_t end = 0;
  for (const Piece& field : fields) {
    if (field.offset != end) return false;
    end += field.bytes;
  }
  return end == bytes;
}

void split(Piece range, std::uint64_t align, std::vector<Piece>& pieces) {
  while (range.bytes != 0) {
    std::uint64_t size = std::min(align, kWidestAccess);
    while (range.offset % size != 0 || size > range.bytes) size /= 2;
    pieces.push_back({range.offset, size});
    range = {range.offset + size, range.bytes - size};
  }
}

std::vector<Piece> piecesOf(const llvm::MemTransferInst& copy, std::uint64_t bytes, std::uint64_t align) {
  std::vector<Piece> pieces;
  const std::vector<Piece> fields = fieldsOf(copy, bytes);
  if (fields.empty() || coverWithoutGaps(fields, bytes))
    split({0, bytes}, align, pieces);
  else
    for (const Piece& field : fields) split(field, align, pieces);
  for (const Piece& field : fieldsByType(copy, bytes))
    for (Piece& piece : pieces)
      piece.isPointer |= field.isPointer && field.offset == piece.offset && field.bytes == piece.bytes;
  return pieces;
}

llvm::Type* typeOf(const Piece& piece, llvm::LLVMContext& context) {
  const std::uint64_t bytes = piece.bytes;
  if (piece.isPointer) return llvm::PointerType::getUnqual(context);
  if (bytes == 16) return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(context), 4);
  return llvm::IntegerType::get(context, unsigned(bytes * 8));
}

void lower(llvm::MemTransferInst& copy, const std::vector<Piece>& pieces) {
  llvm::IRBuilder<> builder(&copy);
  const auto align = [&](llvm::MaybeAlign given, std::uint64_t offset) {
    return llvm::commonAlignment(given.valueOrOne(), offset);
  };
  std::vector<llvm::Value*> values; // all loads first: the sides of a memmove may overlap
  for (const Piece& piece : pieces) {
    llvm::Value* from =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy.getRawSource(), piece.offset);
    llvm::LoadInst* load =
        builder.CreateAlignedLoad(typeOf(piece, builder.getContext()), from,
                                  align(copy.getSourceAlign(), piece.offset), copy.isVolatile());
    load->setMetadata("kcheck.copy", llvm::MDNode::get(builder.getContext(), {}));
    values.push_back(load);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    llvm::Value* to =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), copy.getRawDest(), pieces[i].offset);
    builder.CreateAlignedStore(values[i], to, align(copy.getDestAlign(), pieces[i].offset),
                               copy.isVolatile());
  }
  copy.eraseFromParent();
}

struct Field {
  std::vector<unsigned> indices;
  llvm::Type* type;
};

void collectFields(llvm::Type* type, std::vector<unsigned>& indices, std::vector<Field>& fields) {
  const auto* array = llvm::dyn_cast<llvm::ArrayType>(type);
  if (!type->isAggregateType() || fields.size() > kMostFields) {
    fields.push_back({indices, type});
    return;
  }
  const std::uint64_t count = array ? array->getNumElements() : type->getStructNumElements();
  for (unsigned i = 0; i < count && fields.size() <= kMostFields; ++i) {
    indices.push_back(i);
    collectFields(array ? array->getElementType() : type->getStructElementType(i), indices, fields);
    indices.pop_back();
  }
}

/// Loads of the fields in place of one of the whole structure.
void lower(llvm::LoadInst& load) {
  const llvm::DataLayout& layout = load.getModule()->getDataLayout();
  std::vector<unsigned> indices;
  std::vector<Field> fields;
  collectFields(load.getType(), indices, fields);
  if (fields.size() > kMostFields) return;
  llvm::IRBuilder<> builder(&load);
  llvm::Value* whole = llvm::PoisonValue::get(load.getType());
  for (const Field& field : fields) {
    std::vector<llvm::Value*> path{builder.getInt32(0)};
    for (unsigned index : field.indices) path.push_back(builder.getInt32(index));
    const auto offset = std::uint64_t(layout.getIndexedOffsetInType(load.getType(), path));
    llvm::Value* from = builder.CreateInBoundsGEP(load.getType(), load.getPointerOperand(), path);
    llvm::LoadInst* part =
        builder.CreateAlignedLoad(field.type, from, llvm::commonAlignment(load.getAlign(), offset));
    part->setMetadata("kcheck.copy", llvm::MDNode::get(builder.getContext(), {}));
    whole = builder.CreateInsertValue(whole, part, field.indices);
  }
  load.replaceAllUsesWith(whole);
  load.eraseFromParent();
}

} // namespace

void lowerReturnedStructures(llvm::Function& function) {
  std::vector<llvm::LoadInst*> loads;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        load && load->getType()->isStructTy() && load->isSimple() &&
        llvm::isa<llvm::AllocaInst>(load->getPointerOperand()))
      loads.push_back(load);
  for (llvm::LoadInst* load : loads) lower(*load);
}

void lowerSmallCopies(llvm::Function& function, const std::function<bool(const llvm::Value*)>& isPrivate) {
  std::vector<llvm::MemTransferInst*> copies;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) copies.push_back(copy);
  for (llvm::MemTransferInst* copy : copies) {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy->getLength());
    if (!length || length->isZero()) continue;
    const bool privateSource = isPrivate(copy->getRawSource()), privateDest = isPrivate(copy->getRawDest());
    if (privateSource && privateDest) continue;
    // The private side ends up in registers, so its alignment does not limit the width of the other.
    std::uint64_t align = kWidestAccess;
    if (!privateSource) align = std::min(align, copy->getSourceAlign().valueOrOne().value());
    if (!privateDest) align = std::min(align, copy->getDestAlign().valueOrOne().value());
    const std::uint64_t bytes = length->getZExtValue();
    if (bytes > kMostPieces * kWidestAccess) continue;
    const std::vector<Piece> pieces = piecesOf(*copy, bytes, align);
    if (pieces.size() <= kMostPieces) lower(*copy, pieces);
  }
}

} // namespace kcheck::frontend
