#include "instrument/pass/matrix.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/Constants.h>

namespace kcheck::instrument {

using abi::MatrixType;

bool MatrixShape::isWhole() const {
  // Lanes hold tiles of eight rows (A, accumulators) or columns (B), four registers wide.
  unsigned across = part == MatrixPart::B ? columns : rows, along = part == MatrixPart::B ? rows : columns;
  unsigned width = part == MatrixPart::Accumulator ? 8 : 4 * perRegister();
  return across % 8 == 0 && along % width == 0 && across && along;
}

bool MatrixProduct::isSupported() const {
  bool integers = abi::isIntegerMatrix(a) && abi::isIntegerMatrix(b);
  bool accumulates = a == MatrixType::F64   ? c == MatrixType::F64 && d == MatrixType::F64
                     : integers             ? c == MatrixType::S32 && d == MatrixType::S32
                     : a == MatrixType::F16 ? (c == MatrixType::F16 || c == MatrixType::F32) &&
                                                  (d == MatrixType::F16 || d == MatrixType::F32)
                                            : c == MatrixType::F32 && d == MatrixType::F32;
  // m8n8k4 on halves is four products of eight lanes each.
  bool quads = m == 8 && n == 8 && k == 4 && a != MatrixType::F64;
  bool fits = m <= abi::kMatrixExtent && n <= abi::kMatrixExtent && k <= abi::kMatrixExtent;
  return (integers || a == b) && a != MatrixType::S32 && a != MatrixType::F32 && accumulates && !quads &&
         fits && shapeA().isWhole() && shapeB().isWhole() && shapeC().isWhole();
}

std::optional<MatrixType> matrixTypeNamed(llvm::StringRef name) {
  constexpr std::pair<const char*, MatrixType> names[] = {
      {"f16", MatrixType::F16}, {"bf16", MatrixType::BF16}, {"tf32", MatrixType::TF32},
      {"f32", MatrixType::F32}, {"f64", MatrixType::F64},   {"s8", MatrixType::S8},
      {"u8", MatrixType::U8},   {"s32", MatrixType::S32}};
  for (const auto& [known, type] : names)
    if (name == known) return type;
  return std::nullopt;
}

bool readMatrixShape(llvm::StringRef text, unsigned& m, unsigned& n, unsigned& k) {
  return text.consume_front("m") && !text.consumeInteger(10, m) && text.consume_front("n") &&
         !text.consumeInteger(10, n) && text.consume_front("k") && !text.getAsInteger(10, k);
}

namespace {

/// Memory of the thread in which its registers lie while the warp meets.
class Registers {
public:
  Registers(Lowering& l, unsigned words) : l(l) {
    llvm::BasicBlock& entry = l.call.getFunction()->getEntryBlock();
    llvm::IRBuilder<> start(&entry, entry.getFirstInsertionPt());
    place = start.CreateAlloca(llvm::ArrayType::get(start.getInt32Ty(), words));
    place->setAlignment(llvm::Align(8));
  }

  void put(unsigned word, llvm::Value* value) {
    own(l.b.CreateAlignedStore(value, at(word), llvm::Align(4)));
  }
  llvm::Value* get(unsigned word, llvm::Type* type) {
    return own(l.b.CreateAlignedLoad(type, at(word), llvm::Align(4)));
  }
  llvm::Value* address() { return l.b.CreatePtrToInt(place, l.b.getInt64Ty()); }

private:
  Lowering& l;
  llvm::AllocaInst* place;

  llvm::Value* at(unsigned word) { return l.b.CreateConstGEP1_64(l.b.getInt32Ty(), place, word); }
  template <typename T> T* own(T* access) {
    access->setMetadata(kOwnMetadata, llvm::MDNode::get(l.b.getContext(), {}));
    return access;
  }
};

void meet(Lowering& l, abi::MatrixOp op, std::uint32_t what, std::uint32_t types, Registers& registers) {
  auto number = [&](std::uint32_t value) { return l.b.getInt32(value); };
  l.wait({.kind = abi::WaitKind::Matrix,
          .a = number(~0u),
          .b = number(std::uint32_t(op)),
          .c = number(what),
          .d = number(types),
          .e = registers.address()});
}

} // namespace

std::vector<llvm::Value*> multiplyMatrices(Lowering& l, const MatrixProduct& product,
                                           llvm::ArrayRef<llvm::Value*> a, llvm::ArrayRef<llvm::Value*> b,
                                           llvm::ArrayRef<llvm::Value*> c) {
  Registers registers(l, abi::kMatrixWords);
  unsigned word = 0;
  auto put = [&](llvm::ArrayRef<llvm::Value*> values, const MatrixShape& shape) {
    for (unsigned i = 0; i < shape.registers(); ++i) {
      registers.put(word, values[i]);
      word += shape.bytes() == 8 ? 2 : 1;
    }
  };
  put(a, product.shapeA());
  put(b, product.shapeB());
  put(c, product.shapeC());
  meet(l, abi::MatrixOp::Multiply, product.m | product.n << 8 | product.k << 16,
       abi::matrixTypes(product.a, product.b, product.c, product.d, product.saturates), registers);
  std::vector<llvm::Value*> result;
  MatrixShape d = product.shapeD();
  for (unsigned i = 0; i < d.registers(); ++i)
    result.push_back(d.bytes() == 8 ? registers.get(2 * i, l.b.getInt64Ty())
                                    : registers.get(i, l.b.getInt32Ty()));
  return result;
}

llvm::Value* rowAcross(Lowering& l, llvm::Value* named, unsigned count) {
  Registers registers(l, 2);
  registers.put(0, l.b.CreatePtrToInt(named, l.b.getInt64Ty()));
  meet(l, abi::MatrixOp::Rows, count, 0, registers);
  return l.b.CreateIntToPtr(registers.get(0, l.b.getInt64Ty()), named->getType());
}

std::vector<llvm::Value*> spreadMatrices(Lowering& l, llvm::ArrayRef<llvm::Value*> row, unsigned count,
                                         bool transposed) {
  Registers registers(l, 4);
  for (unsigned i = 0; i < 4; ++i) registers.put(i, row[i]);
  meet(l, abi::MatrixOp::Spread, count, transposed, registers);
  std::vector<llvm::Value*> result;
  for (unsigned i = 0; i < count; ++i) result.push_back(registers.get(i, l.b.getInt32Ty()));
  return result;
}

} // namespace kcheck::instrument
