// Matrix operations of a warp (wmma, mma, ldmatrix): which element of a matrix each lane's registers hold,
// and the wait in which the lanes' registers come together. Used by the lowering of intrinsics and of PTX.
#pragma once

#include "instrument/pass/lowering.h"

namespace kcheck::instrument {

enum class MatrixPart : std::uint8_t { A, B, Accumulator };

/// One operand of D = A * B + C.
struct MatrixShape {
  MatrixPart part;
  abi::MatrixType type;
  unsigned rows, columns;

  unsigned bytes() const { return abi::matrixBytes(type); }             ///< of an element
  unsigned elements() const { return rows * columns / abi::kLogLanes; } ///< of a lane
  unsigned perRegister() const { return bytes() < 4 ? 4 / bytes() : 1; }
  unsigned registers() const { return elements() / perRegister(); }
  bool isWhole() const;
};

struct MatrixProduct {
  unsigned m, n, k;
  abi::MatrixType a, b, c, d;
  bool saturates = false;

  MatrixShape shapeA() const { return {MatrixPart::A, a, m, k}; }
  MatrixShape shapeB() const { return {MatrixPart::B, b, k, n}; }
  MatrixShape shapeC() const { return {MatrixPart::Accumulator, c, m, n}; }
  MatrixShape shapeD() const { return {MatrixPart::Accumulator, d, m, n}; }
  bool isSupported() const;
};

std::optional<abi::MatrixType> matrixTypeNamed(llvm::StringRef name);
/// "m16n16k16"
bool readMatrixShape(llvm::StringRef text, unsigned& m, unsigned& n, unsigned& k);

/// The registers of D from those of A, B and C: integers of 32 bits, of 64 for doubles.
std::vector<llvm::Value*> multiplyMatrices(Lowering& l, const MatrixProduct& product,
                                           llvm::ArrayRef<llvm::Value*> a, llvm::ArrayRef<llvm::Value*> b,
                                           llvm::ArrayRef<llvm::Value*> c);

/// ldmatrix: the row of `count` matrices that this lane reads, where each lane names one.
llvm::Value* rowAcross(Lowering& l, llvm::Value* named, unsigned count);
/// `row` are the four words that this lane has read there; gives a register for each of `count` matrices.
std::vector<llvm::Value*> spreadMatrices(Lowering& l, llvm::ArrayRef<llvm::Value*> row, unsigned count,
                                         bool transposed);

/// llvm.nvvm.wmma.*; the name without prefix. False when it is none or not supported.
bool lowerWmma(Lowering& lowering, llvm::StringRef name, llvm::Value*& value);

} // namespace kcheck::instrument
