// Texture fetches and surface accesses: the instruction's words become one operation number, its coordinates
// an array of words (abi.h), and the runtime samples.
#include "instrument/pass/ptx/builder.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>


namespace kcheck::instrument::ptx {

namespace {

using abi::TextureGeometry;
using abi::TextureMode;
using abi::TextureResult;

struct Geometry {
  TextureGeometry geometry;
  unsigned words; ///< coordinates that count, the layer included
  unsigned axes;  ///< entries of a gradient
};

std::optional<Geometry> geometryNamed(const std::string& name) {
  using G = TextureGeometry;
  const std::pair<const char*, Geometry> known[] = {
      {"1d", {G::Line, 1, 1}},         {"2d", {G::Plane, 2, 2}},       {"3d", {G::Volume, 3, 3}},
      {"a1d", {G::LineArray, 2, 1}},   {"a2d", {G::PlaneArray, 3, 2}}, {"cube", {G::Cube, 3, 3}},
      {"acube", {G::CubeArray, 4, 3}},
  };
  for (const auto& [word, geometry] : known)
    if (name == word) return geometry;
  return std::nullopt;
}

std::optional<TextureResult> resultNamed(const std::string& name) {
  if (name == "f32") return TextureResult::F32;
  if (name == "s32") return TextureResult::S32;
  if (name == "u32") return TextureResult::U32;
  return std::nullopt;
}

const Type kWord{Type::Kind::Bits, 32, 1}, kHandle{Type::Kind::Bits, 64, 1};

/// Memory of the statement's own, at the function's start.
llvm::AllocaInst* room(Builder& p, unsigned bytes) {
  llvm::BasicBlock& entry = p.l.call.getFunction()->getEntryBlock();
  llvm::IRBuilder<> start(&entry, entry.getFirstInsertionPt());
  auto* place = start.CreateAlloca(llvm::ArrayType::get(start.getInt32Ty(), (bytes + 3) / 4));
  place->setAlignment(llvm::Align(8));
  return place;
}

llvm::Value* at(Builder& p, llvm::Value* place, unsigned bytes) {
  return p.b.CreateConstInBoundsGEP1_32(p.b.getInt8Ty(), place, bytes);
}

/// The first `count` entries of a vector, or a single register.
bool addWords(Builder& p, const Operand& operand, unsigned count, std::vector<llvm::Value*>& words) {
  if (operand.kind != Operand::Kind::Vector) {
    if (count != 1) return false;
    words.push_back(p.bits(operand, kWord));
    return true;
  }
  if (operand.parts.size() < count) return false;
  for (unsigned i = 0; i < count; ++i) words.push_back(p.bits(operand.parts[i], kWord));
  return true;
}

llvm::Value* stored(Builder& p, const std::vector<llvm::Value*>& words) {
  llvm::Value* place = room(p, unsigned(4 * words.size()));
  for (unsigned i = 0; i < words.size(); ++i) p.b.CreateStore(words[i], at(p, place, 4 * i));
  return place;
}

/// `[object, {x, y}]`
bool isPlace(const Operand& operand) {
  return operand.kind == Operand::Kind::Address && operand.parts.size() == 2;
}

llvm::Value* siteOf(Builder& p, abi::SiteKind kind, unsigned bytes) {
  return p.b.getInt32(p.l.code.sites.add(kind, bytes, p.l.call.getDebugLoc()));
}

/// tex[.level|.grad].GEOMETRY.v4.RESULT.COORDINATES {d, d, d, d}, [object, {c...}] [, level | , {dx...},
/// {dy...}] tld4.COMPONENT.2d.v4.RESULT.f32 likewise
bool texture(Builder& p, const Statement& s) {
  std::vector<std::string> words(s.opcode.begin() + 1, s.opcode.end());
  auto take = [&](const char* word) {
    return !words.empty() && words[0] == word && (words.erase(words.begin()), true);
  };
  std::uint32_t component = 0;
  TextureMode mode = TextureMode::Base;
  if (s.opcode[0] == "tld4") {
    const std::string names = "rgba";
    if (words.empty() || words[0].size() != 1 || names.find(words[0]) == std::string::npos) return false;
    component = std::uint32_t(names.find(words[0]));
    words.erase(words.begin());
    mode = TextureMode::Gather;
  } else if (take("level")) {
    mode = TextureMode::Level;
  } else if (take("grad")) {
    mode = TextureMode::Gradient;
  } else {
    take("base");
  }
  if (words.size() != 4 || words[1] != "v4" || s.operands.size() < 2 || !isPlace(s.operands[1])) return false;
  auto geometry = geometryNamed(words[0]);
  auto result = resultNamed(words[2]);
  if (!geometry || !result || (words[3] != "f32" && words[3] != "s32")) return false;
  const Operand& target = s.operands[0];
  if (target.kind != Operand::Kind::Vector || target.parts.size() != 4) return false;

  std::vector<llvm::Value*> operands;
  if (!addWords(p, s.operands[1].parts[1], geometry->words, operands)) return false;
  unsigned extra = mode == TextureMode::Level ? 1 : mode == TextureMode::Gradient ? 2 : 0;
  if (s.operands.size() != 2 + extra) return false;
  for (unsigned i = 0; i < extra; ++i)
    if (!addWords(p, s.operands[2 + i], extra == 1 ? 1 : geometry->axes, operands)) return false;

  std::uint32_t operation = std::uint32_t(geometry->geometry) | std::uint32_t(*result) << 5 |
                            std::uint32_t(mode) << 7 | component << 9;
  if (words[3] == "s32") operation |= abi::TextureIntegerCoordinates;
  llvm::Value* place = room(p, 16);
  p.l.runtime(Call::kcTexture, {p.bits(s.operands[1].parts[0], kHandle), p.b.getInt32(operation),
                                stored(p, operands), place, siteOf(p, abi::SiteKind::Read, 0)});
  for (unsigned i = 0; i < 4; ++i)
    p.write(target.parts[i], p.b.CreateLoad(p.b.getInt32Ty(), at(p, place, 4 * i)));
  return true;
}

struct SurfaceForm {
  Geometry geometry;
  unsigned lanes = 1, bytes = 4;
  abi::SurfaceOutside outside = abi::SurfaceOutside::Trap;
};

/// suld.b.GEOMETRY[.v2|.v4].bN.OUTSIDE, sust likewise.
std::optional<SurfaceForm> surfaceForm(const Statement& s) {
  SurfaceForm form;
  bool hasGeometry = false;
  for (std::size_t i = 1; i < s.opcode.size(); ++i) {
    const std::string& word = s.opcode[i];
    if (word == "b") continue;
    if (auto geometry = geometryNamed(word)) {
      form.geometry = *geometry;
      hasGeometry = true;
    } else if (word == "v2" || word == "v4") {
      form.lanes = unsigned(word[1] - '0');
    } else if (word == "b8" || word == "b16" || word == "b32" || word == "b64") {
      form.bytes = unsigned(std::stoul(word.substr(1))) / 8;
    } else if (word == "trap" || word == "clamp" || word == "zero") {
      form.outside = word == "trap"    ? abi::SurfaceOutside::Trap
                     : word == "clamp" ? abi::SurfaceOutside::Clamp
                                       : abi::SurfaceOutside::Zero;
    } else if (word != "ca" && word != "cg" && word != "cs" && word != "cv" && word != "wb" && word != "wt") {
      return std::nullopt; // formatted stores (sust.p) among them
    }
  }
  if (!hasGeometry) return std::nullopt;
  return form;
}

unsigned log2Of(unsigned x) { return x == 1 ? 0 : 1 + log2Of(x / 2); }

bool surface(Builder& p, const Statement& s) {
  auto form = surfaceForm(s);
  if (!form || s.operands.size() != 2) return false;
  const bool store = s.opcode[0] == "sust";
  const Operand &place = s.operands[store ? 0 : 1], &data = s.operands[store ? 1 : 0];
  if (!isPlace(place)) return false;
  std::vector<Operand> elements =
      data.kind == Operand::Kind::Vector ? data.parts : std::vector<Operand>{data};
  std::vector<llvm::Value*> coordinates;
  if (elements.size() != form->lanes || !addWords(p, place.parts[1], form->geometry.words, coordinates))
    return false;

  const Type type{Type::Kind::Bits, 8 * form->bytes, 1};
  llvm::Value* memory = room(p, form->lanes * form->bytes);
  if (store)
    for (unsigned i = 0; i < form->lanes; ++i)
      p.b.CreateStore(p.bits(elements[i], type), at(p, memory, i * form->bytes));
  std::uint32_t operation = std::uint32_t(form->geometry.geometry) | (store ? abi::SurfaceStore : 0) |
                            log2Of(form->bytes) << 5 | log2Of(form->lanes) << 7 |
                            std::uint32_t(form->outside) << 9;
  abi::SiteKind kind = store ? abi::SiteKind::Write : abi::SiteKind::Read;
  p.l.runtime(Call::kcSurface, {p.bits(place.parts[0], kHandle), p.b.getInt32(operation),
                                stored(p, coordinates), memory, siteOf(p, kind, form->lanes * form->bytes)});
  if (!store)
    for (unsigned i = 0; i < form->lanes; ++i)
      p.write(elements[i], p.b.CreateLoad(p.b.getIntNTy(8 * form->bytes), at(p, memory, i * form->bytes)));
  return true;
}

} // namespace

void addTextures(Rules& rules) {
  rules["tex"] = rules["tld4"] = texture;
  rules["suld"] = rules["sust"] = surface;
}

} // namespace kcheck::instrument::ptx
