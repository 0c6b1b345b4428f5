// What a warp's matrix operations read and write: tiles (wmma), and rows that lanes name (ldmatrix). Which
// lane holds which elements of a tile is not told by CUDA: here each has a run of the tile's memory, in the
// order of the lanes backwards, so that hardly any program is in order by luck.
#include "analyzer/model/execution.h"
#include "analyzer/model/warp_values.h"
#include "ptx/statement.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <bit>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr unsigned kLanes = 32;

/// Lines of elements that are neighbours: the rows of a tile, or its columns.
struct Tile {
  unsigned lines = 0, lineBytes = 0, elementBytes = 0;
  bool isStore = false, hasStride = false;

  unsigned bytes() const { return lines * lineBytes; }
  unsigned piece() const { return std::min({16u, lineBytes, bytes() / kLanes}); } ///< of a lane
};

/// 0: several elements in a byte, or no type of an element.
unsigned bytesOf(StringRef type) {
  return StringSwitch<unsigned>(type)
      .Cases("s8", "u8", 1)
      .Cases("f16", "bf16", 2)
      .Cases("f32", "tf32", "s32", 4)
      .Case("f64", 8)
      .Default(0);
}

/// "m16n16k16"
bool readShape(StringRef text, unsigned& m, unsigned& n, unsigned& k) {
  return text.consume_front("m") && !text.consumeInteger(10, m) && text.consume_front("n") &&
         !text.consumeInteger(10, n) && text.consume_front("k") && !text.consumeInteger(10, k) &&
         text.empty();
}

/// llvm.nvvm.wmma.SHAPE.{load,store}.PART.LAYOUT[.stride].TYPE.SPACE
std::optional<Tile> tileOf(StringRef name) {
  SmallVector<StringRef> words;
  if (!name.consume_front("llvm.nvvm.wmma.")) return {};
  name.split(words, '.');
  unsigned m = 0, n = 0, k = 0;
  if (words.size() < 6 || !readShape(words[0], m, n, k) || (words[1] != "load" && words[1] != "store"))
    return {};
  Tile tile;
  tile.isStore = words[1] == "store";
  tile.hasStride = words[4] == "stride";
  if (words.size() != (tile.hasStride ? 7u : 6u)) return {};
  tile.elementBytes = bytesOf(words[tile.hasStride ? 5 : 4]);
  const unsigned rows = words[2] == "b" ? k : m, columns = words[2] == "a" ? k : n;
  const bool byRows = words[3] == "row";
  tile.lines = byRows ? rows : columns;
  tile.lineBytes = (byRows ? columns : rows) * tile.elementBytes;
  const bool isEven = std::has_single_bit(tile.lines) && std::has_single_bit(tile.lineBytes);
  if (!isEven || tile.piece() == 0) return {};
  return tile;
}

} // namespace

Expr Execution::lane() { return exprs.binary(Op::And, state.linearThread(), exprs.constant(32, kLanes - 1)); }

/// Loads and stores of wmma. False where it is none of which the tile is known.
bool Execution::runTile(const CallInst& call, Expr condition) {
  const auto tile = tileOf(call.getCalledFunction()->getName());
  if (!tile) return false;
  const unsigned piece = tile->piece(), pieces = tile->lineBytes / piece;
  Expr distance = exprs.constant(64, tile->lineBytes);
  if (tile->hasStride)
    distance = exprs.mul(
        exprs.extend(Op::SExt, 64, value(call.getArgOperand(tile->isStore ? call.arg_size() - 1 : 1))),
        exprs.constant(64, tile->elementBytes), NoSignedWrap);
  Expr base = value(call.getArgOperand(0)),
       own = exprs.binary(Op::Xor, lane(), exprs.constant(32, kLanes - 1));
  for (unsigned round = 0; round * piece * kLanes < tile->bytes(); ++round) {
    const auto wide = [&](Expr e) { return exprs.extend(Op::ZExt, 64, e); };
    Expr number = exprs.add(own, exprs.constant(32, round * kLanes), NoSignedWrap | NoUnsignedWrap);
    Expr line = exprs.binary(Op::LShr, number, exprs.constant(32, std::countr_zero(pieces)));
    Expr inLine = exprs.binary(Op::And, number, exprs.constant(32, pieces - 1));
    Expr place = exprs.add(exprs.mul(wide(line), distance, NoSignedWrap),
                           exprs.mul(wide(inLine), exprs.constant(64, piece), NoSignedWrap), NoSignedWrap);
    record(call, tile->isStore ? AccessKind::Write : AccessKind::Read, exprs.add(base, place, NoSignedWrap),
           exprs.constant(64, piece), condition);
  }
  return true;
}

/// `ldmatrix.sync.aligned.m8n8.x4.shared.b16 {..}, [row];`: each of the first lanes names a row of 16 bytes,
/// and four get pieces of it. Here the lane across the matrix reads it, so that no row is read by the lane
/// that names it alone.
bool Execution::runRows(const CallInst& call, const ptx::Statement& s, Expr condition) {
  if (s.opcode[0] != "ldmatrix" || s.operands.size() != 2 || !s.has("m8n8") || !s.has("b16")) return false;
  const unsigned count = s.has("x4") ? 4 : s.has("x2") ? 2 : 1;
  const ptx::Operand& address = s.operands[1];
  if (address.kind != ptx::Operand::Kind::Address || address.parts.size() != 1 ||
      address.parts[0].kind != ptx::Operand::Kind::Placeholder)
    return false;
  const auto* several = dyn_cast<StructType>(call.getType());
  const unsigned results = several ? several->getNumElements() : 1;
  if (address.parts[0].number < results || address.parts[0].number - results >= call.arg_size()) return false;
  Expr row = sharedPointer(call.getArgOperand(address.parts[0].number - results));
  if (!row || row->width != 64 || !state.objects.isPointer(row)) return false;
  if (address.offset) row = exprs.add(row, exprs.constant(64, address.offset), NoSignedWrap);
  constexpr unsigned kRowsOfEach = 8, kRowBytes = 16;
  Expr across = exprs.binary(Op::Xor, lane(), exprs.constant(32, kRowsOfEach - 1));
  if (Expr there = asLaneHas(state, call, across, row)) row = there;
  Expr names = exprs.binary(Op::Ult, lane(), exprs.constant(32, count * kRowsOfEach));
  record(call, AccessKind::Read, row, exprs.constant(64, kRowBytes), exprs.logicalAnd(condition, names));
  return true;
}

} // namespace kcheck::analyzer
