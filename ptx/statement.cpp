#include "ptx/statement.h"

#include "ptx/text.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>

namespace kcheck::ptx {

namespace {

class OperandParser {
public:
  explicit OperandParser(const std::string& text) : text(text) {}

  std::optional<Operand> operand() {
    auto first = single();
    if (first) selector(*first);
    skip();
    if (!first || at >= text.size() || text[at] != '|') return first;
    ++at;
    auto second = single();
    if (!second) return std::nullopt;
    Operand pair;
    pair.kind = Operand::Kind::Pair;
    pair.parts = {*first, *second};
    return pair;
  }

  bool list(std::vector<Operand>& out) {
    skip();
    if (at >= text.size()) return true;
    for (;;) {
      auto next = operand();
      if (!next) return false;
      out.push_back(*next);
      skip();
      if (at >= text.size()) return true;
      if (text[at] != ',') return false;
      ++at;
    }
  }

private:
  const std::string& text;
  std::size_t at = 0;

  void skip() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  }

  std::optional<Operand> single() {
    skip();
    if (at >= text.size()) return std::nullopt;
    char c = text[at];
    if (c == '[') return address();
    if (c == '{') return vector();
    Operand result;
    if (c == '!') {
      ++at;
      auto inner = single();
      if (inner) inner->negated = !inner->negated;
      return inner;
    }
    if (c == '$') return placeholder();
    if (c == '%') { // a special register, or one that the statements declare by such a name
      ++at;
      result.kind = Operand::Kind::Special;
      result.name = name();
      return count(result);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '+') return number();
    result.name = name();
    if (result.name.empty()) return std::nullopt;
    if (result.name == "WARP_SZ") {
      result.kind = Operand::Kind::Immediate;
      result.bits = 32;
      return result;
    }
    result.kind = result.name == "_" ? Operand::Kind::Discard : Operand::Kind::Register;
    return count(result);
  }

  /// `r1.b2`, `$1.h0`: a part of the register, for video instructions
  void selector(Operand& operand) {
    auto isPart = [](const std::string& part) {
      return part.size() == 3 && ((part[1] == 'b' && part[2] >= '0' && part[2] <= '3') ||
                                  (part[1] == 'h' && (part[2] == '0' || part[2] == '1')));
    };
    if (operand.kind == Operand::Kind::Register) {
      auto dot = operand.name.rfind('.');
      if (dot == std::string::npos || dot == 0 || !isPart(operand.name.substr(dot))) return;
      operand.part = operand.name.substr(dot + 1);
      operand.name.resize(dot);
    } else if (operand.kind == Operand::Kind::Placeholder && at < text.size() && text[at] == '.') {
      std::string name = this->name();
      if (isPart(name))
        operand.part = name.substr(1);
      else
        at -= name.size();
    }
  }

  /// `r<4>` in a declaration
  Operand count(Operand result) {
    if (at >= text.size() || text[at] != '<') return result;
    ++at;
    result.number = unsigned(std::strtoul(text.c_str() + at, nullptr, 10));
    at = std::min(text.find('>', at), text.size() - 1) + 1;
    return result;
  }

  std::string name() {
    std::size_t start = at;
    while (at < text.size() && (isNameCharacter(text[at]) || text[at] == '$')) ++at;
    return text.substr(start, at - start);
  }

  std::optional<Operand> placeholder() {
    ++at;
    bool braced = at < text.size() && text[at] == '{';
    if (braced) ++at;
    if (at >= text.size() || !std::isdigit(static_cast<unsigned char>(text[at]))) return std::nullopt;
    Operand result;
    result.kind = Operand::Kind::Placeholder;
    char* end = nullptr;
    result.number = unsigned(std::strtoul(text.c_str() + at, &end, 10));
    at = std::size_t(end - text.c_str());
    if (braced) at = std::min(text.find('}', at), text.size() - 1) + 1;
    return result;
  }

  std::optional<Operand> number() {
    Operand result;
    result.kind = Operand::Kind::Immediate;
    bool negative = text[at] == '-';
    if (text[at] == '-' || text[at] == '+') ++at;
    skip();
    const char* start = text.c_str() + at;
    char* end = nullptr;
    if (start[0] == '0' && (start[1] == 'f' || start[1] == 'F' || start[1] == 'd' || start[1] == 'D')) {
      result.floatBits = std::tolower(start[1]) == 'f' ? 32 : 64;
      result.bits = std::strtoull(start + 2, &end, 16);
      if (negative) result.bits ^= std::uint64_t{1} << (result.floatBits - 1);
    } else {
      result.bits = std::strtoull(start, &end, 0);
      if (*end == '.' || *end == 'e') {
        double value = std::strtod(start, &end);
        result.isFloat = true;
        result.bits = std::bit_cast<std::uint64_t>(negative ? -value : value);
      } else if (negative) {
        result.bits = -result.bits;
      }
      if (*end == 'U' || *end == 'u') ++end;
    }
    if (end == start) return std::nullopt;
    at = std::size_t(end - text.c_str());
    return result;
  }

  std::optional<Operand> address() {
    ++at;
    Operand result;
    result.kind = Operand::Kind::Address;
    for (;;) { // textures have `[handle, {x, y}]`
      auto part = operand();
      if (!part) return std::nullopt;
      result.parts.push_back(*part);
      skip();
      if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
        auto offset = number();
        if (!offset) return std::nullopt;
        result.offset = std::int64_t(offset->bits);
        skip();
      }
      if (at >= text.size()) return std::nullopt;
      if (text[at++] == ']') return result;
    }
  }

  std::optional<Operand> vector() {
    ++at;
    Operand result;
    result.kind = Operand::Kind::Vector;
    for (;;) {
      auto part = operand();
      if (!part) return std::nullopt;
      result.parts.push_back(*part);
      skip();
      if (at >= text.size()) return std::nullopt;
      if (text[at++] == '}') return result;
    }
  }
};

std::vector<std::string> splitOpcode(const std::string& opcode) {
  std::vector<std::string> parts;
  std::string current;
  for (char c : opcode) {
    if (c == '.') {
      if (!current.empty()) parts.push_back(current);
      current.clear();
    } else if (c != ':') {
      current += c;
    } else { // L1::no_allocate
      current += c;
    }
  }
  if (!current.empty()) parts.push_back(current);
  // The type comes last, but ptxas takes `lg2.approx.f32.ftz` and `max.s32.relu` as well, which CUDA's own
  // headers have.
  if (parts.size() > 2 && (parts.back() == "ftz" || parts.back() == "relu"))
    std::swap(parts.back(), parts[parts.size() - 2]);
  return parts;
}

bool parseStatement(std::string text, Statement& statement) {
  statement.text = text;
  if (text.back() == ':') {
    statement.label = text.substr(0, text.size() - 1);
    return true;
  }
  if (text[0] == '@') {
    auto end = std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); });
    std::string guard(text.begin() + 1, end);
    statement.guard = OperandParser(guard).operand();
    if (!statement.guard) return false;
    text = trimmed(std::string(end, text.end()));
  }
  auto end = std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); });
  statement.opcode = splitOpcode(std::string(text.begin(), end));
  std::string rest = trimmed(std::string(end, text.end()));
  if (text.starts_with(".pragma") || text.starts_with(".loc")) return true;
  if (text.starts_with(".reg")) {
    statement.isDeclaration = true;
    if (statement.opcode.size() == 1) { // `.reg .b32 r`, not `.reg.b32 r`
      auto typeEnd = std::find_if(rest.begin(), rest.end(), [](unsigned char c) { return std::isspace(c); });
      statement.opcode = splitOpcode("reg" + std::string(rest.begin(), typeEnd));
      rest = trimmed(std::string(typeEnd, rest.end()));
    }
    if (rest.starts_with(".")) return false; // vectors of registers
  }
  return !statement.opcode.empty() && OperandParser(rest).list(statement.operands);
}

} // namespace

bool Statement::has(const std::string& modifier) const {
  return std::find(opcode.begin() + 1, opcode.end(), modifier) != opcode.end();
}

std::optional<std::vector<Statement>> parse(const std::string& text, std::string& failure) {
  std::vector<Statement> statements;
  for (const std::string& piece : cut(text)) {
    Statement statement;
    if (!parseStatement(piece, statement)) {
      failure = piece;
      return std::nullopt;
    }
    statements.push_back(std::move(statement));
  }
  return statements;
}

} // namespace kcheck::ptx
