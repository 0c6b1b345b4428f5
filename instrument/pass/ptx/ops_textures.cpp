// Texture fetches and surface accesses as calls of the runtime, encoded as abi.h says.
#include "instrument/pass/ptx/run_target.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

namespace kcheck::instrument {

using namespace ptx;

namespace {

using abi::TextureGeometry;
using abi::TextureMode;
using abi::TextureResult;
const Type kWord{Type::Kind::Bits, 32, 1};

struct Shape {
  TextureGeometry geometry;
  unsigned coordinates; ///< words that place a texel, the layer included
};

std::optional<Shape> shapeNamed(const std::string& word) {
  if (word == "1d") return Shape{TextureGeometry::Line, 1};
  if (word == "2d") return Shape{TextureGeometry::Plane, 2};
  if (word == "3d") return Shape{TextureGeometry::Volume, 3};
  if (word == "a1d") return Shape{TextureGeometry::LineArray, 2};
  if (word == "a2d") return Shape{TextureGeometry::PlaneArray, 3};
  if (word == "cube") return Shape{TextureGeometry::Cube, 3};
  if (word == "acube") return Shape{TextureGeometry::CubeArray, 4};
  return std::nullopt;
}

std::optional<Shape> shapeOf(const Statement& s) {
  for (std::size_t i = 1; i < s.opcode.size(); ++i)
    if (auto shape = shapeNamed(s.opcode[i])) return shape;
  return std::nullopt;
}

/// The first `count` words of a scalar or vector operand.
bool takeWords(const Operand& operand, unsigned count, std::vector<Operand>& words) {
  if (operand.kind != Operand::Kind::Vector) {
    words.push_back(operand);
    return count == 1;
  }
  if (operand.parts.size() < count) return false;
  words.insert(words.end(), operand.parts.begin(), operand.parts.begin() + count);
  return true;
}

/// An array of 32-bit words on the thread's stack.
llvm::AllocaInst* wordArray(Builder& p, unsigned count) {
  llvm::BasicBlock& entry = loweringOf(p).call.getFunction()->getEntryBlock();
  llvm::IRBuilder<> start(&entry, entry.getFirstInsertionPt());
  return start.CreateAlloca(llvm::ArrayType::get(start.getInt32Ty(), std::max(count, 1u)));
}

llvm::Value* store(Builder& p, const std::vector<Operand>& words) {
  llvm::AllocaInst* place = wordArray(p, unsigned(words.size()));
  for (std::size_t i = 0; i < words.size(); ++i)
    p.b.CreateStore(p.bits(words[i], kWord), p.b.CreateConstGEP1_64(p.b.getInt32Ty(), place, i));
  return place;
}

std::uint32_t siteOf(Builder& p, abi::SiteKind kind, std::uint32_t bytes) {
  if (auto* node = loweringOf(p).call.getMetadata(kSiteMetadata)) {
    auto id = llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0))->getZExtValue();
    if (id < loweringOf(p).code.facts.sites.size()) return std::uint32_t(id);
  }
  return loweringOf(p).code.sites.add(kind, bytes, loweringOf(p).call.getDebugLoc());
}

/// tex[.base|.level|.grad].GEOM.v4.DTYPE.CTYPE d, [object, c] {, level | gradients}; tld4.COMP.GEOM...
bool fetch(Builder& p, const Statement& s) {
  auto shape = shapeOf(s);
  auto coordinates = typeNamed(s.type());
  auto result = s.opcode.size() > 2 ? typeNamed(s.opcode[s.opcode.size() - 2]) : std::nullopt;
  if (!shape || !coordinates || !result || s.operands.size() < 2) return false;
  if (result->bits != 32 || s.operands[0].kind != Operand::Kind::Vector || s.operands[1].parts.size() != 2)
    return false;
  bool gathers = s.opcode[0] == "tld4";
  auto mode = gathers          ? TextureMode::Gather
              : s.has("level") ? TextureMode::Level
              : s.has("grad")  ? TextureMode::Gradient
                               : TextureMode::Base;
  auto kind = result->isFloat()    ? TextureResult::F32
              : result->isSigned() ? TextureResult::S32
                                   : TextureResult::U32;
  auto operation = std::uint32_t(shape->geometry) | std::uint32_t(kind) << 5 | std::uint32_t(mode) << 7;
  if (!coordinates->isFloat()) operation |= abi::TextureIntegerCoordinates;
  if (gathers) operation |= std::uint32_t(std::string("rgba").find(s.opcode[1][0])) << 9;

  std::vector<Operand> words;
  if (!takeWords(s.operands[1].parts[1], shape->coordinates, words)) return false;
  unsigned gradient =
      shape->geometry == TextureGeometry::Volume                                                  ? 3
      : shape->geometry == TextureGeometry::Line || shape->geometry == TextureGeometry::LineArray ? 1
                                                                                                  : 2;
  for (std::size_t i = 2; i < s.operands.size(); ++i)
    if (!takeWords(s.operands[i], mode == TextureMode::Gradient ? gradient : 1, words)) return false;
  if ((mode == TextureMode::Level && s.operands.size() < 3) ||
      (mode == TextureMode::Gradient && s.operands.size() < 4))
    return false;

  llvm::Value* object = p.bits(s.operands[1].parts[0], {Type::Kind::Bits, 64, 1});
  llvm::Value* input = store(p, words);
  llvm::AllocaInst* output = wordArray(p, 4);
  loweringOf(p).runtime(Call::kcTexture, {object, p.b.getInt32(operation), input, output,
                                          p.b.getInt32(siteOf(p, abi::SiteKind::Read, 4))});
  for (std::size_t i = 0; i < s.operands[0].parts.size(); ++i)
    p.write(s.operands[0].parts[i],
            p.b.CreateLoad(p.b.getInt32Ty(), p.b.CreateConstGEP1_64(p.b.getInt32Ty(), output, i)));
  return true;
}

/// suld.b.GEOM[.v2|.v4].TYPE.OUTSIDE d, [surface, c] and sust.b... [surface, c], d
bool surface(Builder& p, const Statement& s) {
  bool stores = s.opcode[0] == "sust";
  auto shape = shapeOf(s);
  if (!shape || s.operands.size() != 2 || s.opcode.size() < 5 || s.opcode[1] != "b") return false;
  auto type = typeNamed(s.opcode[s.opcode.size() - 2]);
  const std::string& outside = s.type();
  const Operand& place = s.operands[stores ? 0 : 1];
  const Operand& data = s.operands[stores ? 1 : 0];
  if (!type || place.parts.size() != 2) return false;
  unsigned lanes = s.has("v4") ? 4 : s.has("v2") ? 2 : 1;
  unsigned bytes = type->bits / 8;
  auto log2 = [](unsigned n) { return std::uint32_t(__builtin_ctz(n)); };
  auto border = outside == "clamp"  ? abi::SurfaceOutside::Clamp
                : outside == "zero" ? abi::SurfaceOutside::Zero
                                    : abi::SurfaceOutside::Trap;
  std::uint32_t operation = std::uint32_t(shape->geometry) | (stores ? abi::SurfaceStore : 0) |
                            log2(bytes) << 5 | log2(lanes) << 7 | std::uint32_t(border) << 9;
  std::vector<Operand> words, elements;
  if (!takeWords(place.parts[1], shape->coordinates, words)) return false;
  if (data.kind == Operand::Kind::Vector ? data.parts.size() != lanes : lanes != 1) return false;
  if (data.kind == Operand::Kind::Vector)
    elements = data.parts;
  else
    elements = {data};
  llvm::Value* object = p.bits(place.parts[0], {Type::Kind::Bits, 64, 1});
  llvm::Value* input = store(p, words);
  llvm::AllocaInst* memory = wordArray(p, 8);
  auto element = [&](unsigned i) { return p.b.CreateConstGEP1_64(p.b.getInt8Ty(), memory, i * bytes); };
  auto* width = p.b.getIntNTy(type->bits);
  if (stores)
    for (unsigned i = 0; i < lanes; ++i)
      p.b.CreateAlignedStore(p.bits(elements[i], *type), element(i), llvm::Align(1));
  auto kind = stores ? abi::SiteKind::Write : abi::SiteKind::Read;
  loweringOf(p).runtime(Call::kcSurface, {object, p.b.getInt32(operation), input, memory,
                                          p.b.getInt32(siteOf(p, kind, bytes * lanes))});
  if (!stores)
    for (unsigned i = 0; i < lanes; ++i)
      p.write(elements[i], p.b.CreateAlignedLoad(width, element(i), llvm::Align(1)));
  return true;
}

} // namespace

void addTextures(Rules& rules) {
  rules["tex"] = rules["tld4"] = fetch;
  rules["suld"] = rules["sust"] = surface;
}

} // namespace kcheck::instrument
