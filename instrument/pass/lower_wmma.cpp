// llvm.nvvm.wmma.*: loads, stores and products of a warp's matrices, told apart by the parts of their names.
// A load is checked as the hardware's best order would make it: each lane has a run of the tile's memory, so
// that bounds, races and traffic are those of the tile; the elements that the lane's registers hold are then
// read unchecked.
#include "instrument/pass/matrix.h"
#include "instrument/pass/registers.h"
#include "instrument/pass/stages.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

namespace kcheck::instrument {

namespace {

using abi::MatrixType;

/// load.a.row.stride.f16.p0 and its relatives: where a tile lies.
struct Tile {
  MatrixShape shape;
  bool byRows;           ///< elements of a row are neighbours
  llvm::Value* base;     ///< generic
  llvm::Value* distance; ///< from one row (column) to the next, bytes

  unsigned lines() const { return byRows ? shape.rows : shape.columns; }
  unsigned lineBytes() const { return (byRows ? shape.columns : shape.rows) * shape.bytes(); }
};

llvm::Value* lane(Lowering& l) { return l.b.CreateZExt(registerMarker(l.b, "laneid"), l.b.getInt64Ty()); }

llvm::Value* place(Lowering& l, const Tile& tile, llvm::Value* line, llvm::Value* byte) {
  auto* offset = l.b.CreateAdd(l.b.CreateMul(line, tile.distance), byte);
  return l.b.CreateGEP(l.b.getInt8Ty(), tile.base, offset);
}

std::uint32_t siteOf(Lowering& l, abi::SiteKind kind, unsigned bytes) {
  if (auto* node = l.call.getMetadata(kSiteMetadata)) {
    auto id = llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0))->getZExtValue();
    if (id < l.code.facts.sites.size()) return std::uint32_t(id);
  }
  return l.code.sites.add(kind, bytes, l.call.getDebugLoc());
}

/// Checks the whole tile, a piece of up to 16 bytes for each lane at a time.
void checkTile(Lowering& l, const Tile& tile, bool isStore) {
  unsigned all = tile.lines() * tile.lineBytes();
  unsigned piece = std::min({16u, tile.lineBytes(), all / abi::kLogLanes});
  unsigned pieces = tile.lineBytes() / piece; // of a line
  auto kind = isStore ? abi::SiteKind::Write : abi::SiteKind::Read;
  std::uint32_t site = siteOf(l, kind, piece);
  for (unsigned round = 0; round < all / piece / abi::kLogLanes; ++round) {
    auto* number = l.b.CreateAdd(lane(l), l.b.getInt64(round * abi::kLogLanes));
    auto* line = l.b.CreateUDiv(number, l.b.getInt64(pieces));
    auto* byte = l.b.CreateMul(l.b.CreateURem(number, l.b.getInt64(pieces)), l.b.getInt64(piece));
    l.runtime(isStore ? Call::kcWrite : Call::kcRead,
              {place(l, tile, line, byte), l.b.getInt64(piece), l.b.getInt32(site)});
  }
}

/// Row and column of the lane's element; see MatrixShape::isWhole.
std::pair<llvm::Value*, llvm::Value*> elementOf(Lowering& l, const MatrixShape& shape, unsigned element) {
  bool isB = shape.part == MatrixPart::B, isC = shape.part == MatrixPart::Accumulator;
  unsigned perGroup = isC ? 2 : shape.perRegister(); // neighbours in one lane
  unsigned group = element / perGroup, inGroup = element % perGroup;
  // A and C go on with the next eight rows, then to the right; B goes on downwards, then with the next
  // columns.
  unsigned across = (isB ? shape.columns : shape.rows) / 8,
           along = (isB ? shape.rows : shape.columns) / (4 * perGroup);
  unsigned tileAcross = isB ? group / along : group % across,
           tileAlong = isB ? group % along : group / across;
  auto* eighth = l.b.CreateAdd(l.b.CreateLShr(lane(l), 2), l.b.getInt64(8 * tileAcross));
  auto* inRun = l.b.CreateMul(l.b.CreateAnd(lane(l), 3), l.b.getInt64(perGroup));
  auto* run = l.b.CreateAdd(inRun, l.b.getInt64(4 * perGroup * tileAlong + inGroup));
  return isB ? std::pair{static_cast<llvm::Value*>(run), static_cast<llvm::Value*>(eighth)}
             : std::pair{static_cast<llvm::Value*>(eighth), static_cast<llvm::Value*>(run)};
}

llvm::Value* elementPlace(Lowering& l, const Tile& tile, unsigned element) {
  auto [row, column] = elementOf(l, tile.shape, element);
  auto* byte = l.b.CreateMul(tile.byRows ? column : row, l.b.getInt64(tile.shape.bytes()));
  return place(l, tile, tile.byRows ? row : column, byte);
}

template <typename T> T* own(Lowering& l, T* access) {
  access->setMetadata(kOwnMetadata, llvm::MDNode::get(l.b.getContext(), {}));
  return access;
}

std::vector<llvm::Value*> loadTile(Lowering& l, const Tile& tile) {
  const MatrixShape& shape = tile.shape;
  checkTile(l, tile, false);
  std::vector<llvm::Value*> registers;
  auto* type = l.b.getIntNTy(8 * shape.bytes());
  auto* wide = l.b.getIntNTy(std::max(32u, 8 * shape.bytes()));
  for (unsigned i = 0; i < shape.registers(); ++i) {
    llvm::Value* all = llvm::ConstantInt::get(wide, 0);
    for (unsigned j = 0; j < shape.perRegister(); ++j) {
      auto* from = elementPlace(l, tile, i * shape.perRegister() + j);
      auto* one = own(l, l.b.CreateAlignedLoad(type, from, llvm::Align(1)));
      all = l.b.CreateOr(all, l.b.CreateShl(l.b.CreateZExt(one, wide), 8 * shape.bytes() * j));
    }
    registers.push_back(all);
  }
  return registers;
}

void storeTile(Lowering& l, const Tile& tile, llvm::ArrayRef<llvm::Value*> registers) {
  const MatrixShape& shape = tile.shape;
  checkTile(l, tile, true);
  auto* type = l.b.getIntNTy(8 * shape.bytes());
  for (unsigned i = 0; i < shape.registers(); ++i)
    for (unsigned j = 0; j < shape.perRegister(); ++j) {
      auto* one = l.b.CreateTrunc(l.b.CreateLShr(registers[i], 8 * shape.bytes() * j), type);
      own(l, l.b.CreateAlignedStore(one, elementPlace(l, tile, i * shape.perRegister() + j), llvm::Align(1)));
    }
}

/// The intrinsic's result from integers; fragments of halves hold their elements more than once.
llvm::Value* resultOf(Lowering& l, llvm::ArrayRef<llvm::Value*> registers) {
  auto* record = llvm::dyn_cast<llvm::StructType>(l.type());
  if (!record) return l.b.CreateBitCast(registers[0], l.type());
  llvm::Value* all = llvm::PoisonValue::get(record);
  for (unsigned i = 0; i < record->getNumElements(); ++i)
    all = l.b.CreateInsertValue(
        all, l.b.CreateBitCast(registers[i % registers.size()], record->getElementType(i)), i);
  return all;
}

llvm::Value* asInteger(Lowering& l, llvm::Value* value) {
  return l.b.CreateBitCast(value, l.b.getIntNTy(unsigned(value->getType()->getPrimitiveSizeInBits())));
}

/// PART.LAYOUT[.stride].TYPE.pN of a load or store
std::optional<Tile> readTile(Lowering& l, llvm::ArrayRef<llvm::StringRef> words, unsigned m, unsigned n,
                             unsigned k, unsigned strideOperand) {
  if (words.size() < 4) return std::nullopt;
  bool hasStride = words[2] == "stride";
  if (words.size() != (hasStride ? 5u : 4u)) return std::nullopt;
  auto type = matrixTypeNamed(words[hasStride ? 3 : 2]);
  if (!type || (words[1] != "row" && words[1] != "col")) return std::nullopt;
  MatrixShape shape = words[0] == "a"   ? MatrixShape{MatrixPart::A, *type, m, k}
                      : words[0] == "b" ? MatrixShape{MatrixPart::B, *type, k, n}
                                        : MatrixShape{MatrixPart::Accumulator, *type, m, n};
  if (!shape.isWhole()) return std::nullopt;
  bool byRows = words[1] == "row";
  llvm::Value* elements = hasStride ? l.b.CreateSExt(l.operand(strideOperand), l.b.getInt64Ty())
                                    : l.b.getInt64(byRows ? shape.columns : shape.rows);
  llvm::Value* base = l.operand(0);
  if (base->getType()->getPointerAddressSpace()) base = l.b.CreateAddrSpaceCast(base, l.b.getPtrTy());
  return Tile{shape, byRows, base, l.b.CreateMul(elements, l.b.getInt64(shape.bytes()))};
}

/// row.col.D.C (halves) or row.col.TYPE, and satfinite
std::optional<MatrixProduct> readProduct(llvm::SmallVector<llvm::StringRef> words, unsigned m, unsigned n,
                                         unsigned k) {
  bool saturates = words.back() == "satfinite";
  if (saturates) words.pop_back();
  if (words.size() < 3 || words.size() > 4) return std::nullopt;
  auto first = matrixTypeNamed(words[2]), last = matrixTypeNamed(words.back());
  if (!first || !last) return std::nullopt;
  MatrixProduct product{m, n, k, *first, *first, MatrixType::F32, MatrixType::F32, saturates};
  if (words.size() == 4) {
    product.a = product.b = MatrixType::F16;
    product.d = *first;
    product.c = *last;
  } else if (abi::isIntegerMatrix(*first)) {
    product.c = product.d = MatrixType::S32;
  } else if (*first == MatrixType::F64) {
    product.c = product.d = MatrixType::F64;
  }
  if (!product.isSupported()) return std::nullopt;
  return product;
}

std::vector<llvm::Value*> operands(Lowering& l, unsigned first, unsigned end) {
  std::vector<llvm::Value*> values;
  for (unsigned i = first; i < end; ++i) values.push_back(asInteger(l, l.operand(i)));
  return values;
}

bool lowerProduct(Lowering& l, const MatrixProduct& product, llvm::Value*& value) {
  // C's registers come last, as many as it has elements for; A's fragments and B's are as long as their
  // share.
  unsigned all = l.call.arg_size(), ofC = product.shapeC().registers();
  unsigned ofA = product.shapeA().registers(), ofB = product.shapeB().registers();
  bool isHalf = product.a == MatrixType::F16; // each 8 registers, whatever the shape
  unsigned endA = isHalf ? 8 : ofA, endB = endA + (isHalf ? 8 : ofB);
  if (endB + ofC != all) return false;
  auto a = operands(l, 0, endA), b = operands(l, endA, endB), c = operands(l, endB, all);
  value = resultOf(l, multiplyMatrices(l, product, a, b, c));
  return true;
}

} // namespace

bool lowerWmma(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  if (!name.consume_front("wmma.")) return false;
  llvm::SmallVector<llvm::StringRef> words;
  name.split(words, '.');
  unsigned m = 0, n = 0, k = 0;
  if (words.size() < 4 || !readMatrixShape(words[0], m, n, k)) return false;
  llvm::SmallVector<llvm::StringRef> rest(words.begin() + 2, words.end());
  if (words[1] == "mma") {
    auto product = readProduct(rest, m, n, k);
    return product && lowerProduct(l, *product, value);
  }
  bool isStore = words[1] == "store", hasStride = rest.size() > 2 && rest[2] == "stride";
  auto tile = readTile(l, rest, m, n, k, isStore ? l.call.arg_size() - 1 : 1);
  if (!tile) return false;
  if (!isStore) {
    value = resultOf(l, loadTile(l, *tile));
    return true;
  }
  auto registers = operands(l, 1, l.call.arg_size() - (hasStride ? 1 : 0));
  if (registers.size() != tile->shape.registers()) return false;
  storeTile(l, *tile, registers);
  return true;
}

} // namespace kcheck::instrument
