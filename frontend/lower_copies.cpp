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
constexpr std::size_t kMostPieces = 16;

struct Piece {
  std::uint64_t offset, bytes;
};

/// The fields of the copied object, as clang's aliasing metadata lists them; empty when it does not.
std::vector<Piece> fieldsOf(const llvm::MemTransferInst& copy) {
  std::vector<Piece> fields;
  const llvm::MDNode* node = copy.getMetadata(llvm::LLVMContext::MD_tbaa_struct);
  if (!node) return fields;
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
  const std::vector<Piece> fields = fieldsOf(copy);
  if (fields.empty() || coverWithoutGaps(fields, bytes))
    split({0, bytes}, align, pieces);
  else
    for (const Piece& field : fields) split(field, align, pieces);
  return pieces;
}

llvm::Type* typeOf(std::uint64_t bytes, llvm::LLVMContext& context) {
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
        builder.CreateAlignedLoad(typeOf(piece.bytes, builder.getContext()), from,
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

} // namespace

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
