// Products of matrices that lie in the registers of a warp (mma) and loads and turns of such matrices
// (ldmatrix, movmatrix).
#include "instrument/pass/matrix.h"
#include "instrument/pass/ptx/run_target.h"

#include "instrument/pass/registers.h"

#include <llvm/IR/Constants.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace kcheck::instrument {

using namespace ptx;

namespace {

std::vector<llvm::Value*> registersOf(Builder& p, const Operand& operand, const MatrixShape& shape) {
  const Type word{Type::Kind::Bits, shape.bytes() == 8 ? 64u : 32u, 1};
  std::vector<llvm::Value*> values;
  if (operand.kind != Operand::Kind::Vector) return {p.bits(operand, word)};
  for (const ptx::Operand& part : operand.parts) values.push_back(p.bits(part, word));
  return values;
}

/// mma.sync.aligned.SHAPE.row.col{.satfinite}.D.A.B.C d, a, b, c
bool multiply(Builder& p, const Statement& s) {
  if (s.operands.size() != 4 || s.opcode.size() < 10 || s.opcode[2] != "aligned") return false;
  MatrixProduct product{};
  if (!readMatrixShape(s.opcode[3], product.m, product.n, product.k)) return false;
  if (s.opcode[4] != "row" || s.opcode[5] != "col") return false;
  product.saturates = s.opcode[6] == "satfinite";
  std::size_t first = product.saturates ? 7 : 6;
  if (s.opcode.size() != first + 4) return false;
  auto type = [&](std::size_t i) { return matrixTypeNamed(s.opcode[first + i]); };
  if (!type(0) || !type(1) || !type(2) || !type(3)) return false;
  product.d = *type(0);
  product.a = *type(1);
  product.b = *type(2);
  product.c = *type(3);
  if (!product.isSupported()) return false;
  auto a = registersOf(p, s.operands[1], product.shapeA()),
       b = registersOf(p, s.operands[2], product.shapeB());
  auto c = registersOf(p, s.operands[3], product.shapeC());
  if (a.size() != product.shapeA().registers() || b.size() != product.shapeB().registers() ||
      c.size() != product.shapeC().registers())
    return false;
  auto d = multiplyMatrices(loweringOf(p), product, a, b, c);
  bool isVector = s.operands[0].kind == Operand::Kind::Vector;
  if ((isVector ? s.operands[0].parts.size() : 1) != d.size()) return false;
  for (std::size_t i = 0; i < d.size(); ++i) p.write(isVector ? s.operands[0].parts[i] : s.operands[0], d[i]);
  return true;
}

/// ldmatrix.sync.aligned.m8n8.x{1,2,4}{.trans}.shared.b16 d, [row]; lanes beyond the rows read nothing, and
/// none reads the row that it names itself: what it has stored there, others get.
bool load(Builder& p, const Statement& s) {
  if (s.operands.size() != 2 || !s.has("m8n8") || !s.has("b16")) return false;
  unsigned count = s.has("x1") ? 1 : s.has("x2") ? 2 : s.has("x4") ? 4 : 0;
  bool isVector = s.operands[0].kind == Operand::Kind::Vector;
  if (!count || (isVector ? s.operands[0].parts.size() : 1) != count) return false;
  std::string space;
  for (const std::string& word : s.opcode)
    if (word.starts_with("shared")) space = "shared";
  auto* named = p.address(s.operands[1], space);
  auto* address = rowAcross(loweringOf(p), named, count);
  auto* type = llvm::FixedVectorType::get(p.b.getInt32Ty(), 4);
  auto* isRow = p.b.CreateICmpULT(registerMarker(p.b, "laneid"), p.b.getInt32(8 * count));
  llvm::Instruction* next = &*p.b.GetInsertPoint();
  llvm::BasicBlock* before = next->getParent();
  llvm::Instruction* inside = llvm::SplitBlockAndInsertIfThen(isRow, next, false);
  p.b.SetInsertPoint(inside);
  llvm::Value* read = loweringOf(p).load(type, address, llvm::Align(16));
  p.b.SetInsertPoint(&next->getParent()->front());
  auto* row = p.b.CreatePHI(type, 2);
  row->addIncoming(read, inside->getParent());
  row->addIncoming(llvm::Constant::getNullValue(type), before);
  p.b.SetInsertPoint(next);
  std::vector<llvm::Value*> words;
  for (unsigned i = 0; i < 4; ++i) words.push_back(p.b.CreateExtractElement(row, i));
  auto spread = spreadMatrices(loweringOf(p), words, count, s.has("trans"));
  for (unsigned i = 0; i < count; ++i) p.write(isVector ? s.operands[0].parts[i] : s.operands[0], spread[i]);
  return true;
}

/// movmatrix.sync.aligned.m8n8.trans.b16 d, a: a lane holds two neighbours in a row of a matrix of eight
/// rows, and gets two of a column.
bool transpose(Builder& p, const Statement& s) {
  if (s.operands.size() != 2 || !s.has("m8n8") || !s.has("trans") || s.type() != "b16") return false;
  const Type word{Type::Kind::Bits, 32, 1};
  auto* own = p.bits(s.operands[1], word);
  auto* lane = registerMarker(p.b, "laneid");
  auto number = [&](std::uint32_t value) { return p.b.getInt32(value); };
  auto* row = p.b.CreateLShr(lane, 2); // of the result, which is the column there
  auto* first = p.b.CreateShl(p.b.CreateAnd(lane, number(3)), 1);
  llvm::Value* result = number(0);
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto* place = p.b.CreateAdd(first, number(i));
    auto* from = p.b.CreateAdd(p.b.CreateShl(place, 2), p.b.CreateLShr(row, 1));
    auto* wait = loweringOf(p).wait({.kind = abi::WaitKind::Shuffle,
                                     .a = number(~0u),
                                     .b = number(std::uint32_t(abi::ShuffleMode::Index)),
                                     .c = from,
                                     .d = number(31),
                                     .e = own});
    auto* pair = loweringOf(p).result(wait, p.b.getInt32Ty());
    auto* half = p.b.CreateLShr(pair, p.b.CreateShl(p.b.CreateAnd(row, number(1)), 4));
    result = p.b.CreateOr(result, p.b.CreateShl(p.b.CreateAnd(half, number(0xffff)), 16 * i));
  }
  p.write(s.operands[0], result);
  return true;
}

} // namespace

void addMatrices(Rules& rules) {
  rules["mma"] = multiply;
  rules["ldmatrix"] = load;
  rules["movmatrix"] = transpose;
}

} // namespace kcheck::instrument
