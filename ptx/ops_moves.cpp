// mov, cvta, selp, shfl's plain relatives: statements that move bits.
#include "ptx/builder.h"

namespace kcheck::ptx {

namespace {

bool move(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() != 2) return false;
  p.write(s.operands[0], p.bits(s.operands[1], *type));
  return true;
}

/// cvta.SPACE: an address of that space to a generic one; cvta.to.SPACE: the reverse. Generic and specific
/// addresses are the same here, except that shared ones may have lost their upper half.
bool convertAddress(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() != 2) return false;
  llvm::Value* source = p.bits(s.operands[1], *type);
  if (!s.has("to") && s.has("shared"))
    source = p.b.CreatePtrToInt(p.target.fromShared(p.b, source), p.b.getInt64Ty());
  p.write(s.operands[0], source);
  return true;
}

/// selp.TYPE d, a, b, p
bool select(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() != 4) return false;
  p.write(s.operands[0], p.b.CreateSelect(p.predicate(s.operands[3]), p.bits(s.operands[1], *type),
                                          p.bits(s.operands[2], *type)));
  return true;
}

/// slct.TYPE.{s32,f32} d, a, b, c: a when c >= 0
bool selectBySign(Builder& p, const Statement& s) {
  if (s.opcode.size() < 3 || s.operands.size() != 4) return false;
  auto type = typeNamed(s.opcode[s.opcode.size() - 2]);
  auto chooser = typeNamed(s.type());
  if (!type || !chooser) return false;
  llvm::Value* c = p.value(s.operands[3], *chooser);
  llvm::Value* holds = chooser->isFloat() ? p.b.CreateFCmpOGE(c, llvm::ConstantFP::get(c->getType(), 0.0))
                                          : p.b.CreateICmpSGE(c, llvm::ConstantInt::get(c->getType(), 0));
  p.write(s.operands[0], p.b.CreateSelect(holds, p.bits(s.operands[1], *type), p.bits(s.operands[2], *type)));
  return true;
}

} // namespace

void addMoves(Rules& rules) {
  rules["mov"] = move;
  rules["cvta"] = convertAddress;
  rules["selp"] = select;
  rules["slct"] = selectBySign;
}

} // namespace kcheck::ptx
