// Inline PTX as text into statements: opcode with its modifiers, operands, guard. Knows the grammar, not the
// meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kcheck::ptx {

struct Operand {
  enum class Kind {
    Register,    ///< `r1`, `p`; name
    Placeholder, ///< `$3` of the asm statement; number
    Special,     ///< `%laneid`; name without the percent sign
    Immediate,   ///< bits; text for floats
    Address,     ///< `[parts[0] + offset]`
    Vector,      ///< `{a, b}`; parts
    Pair,        ///< `a|b`: parts
    Discard      ///< `_`
  } kind = Kind::Discard;
  std::string name;
  std::string part; ///< `b0` ... `b3`, `h0`, `h1` of a register; only video instructions have it
  unsigned number = 0;
  std::uint64_t bits = 0;
  bool isFloat = false;   ///< the immediate is a decimal float: `bits` holds a double
  unsigned floatBits = 0; ///< 32 or 64 for 0f... and 0d...; 0 otherwise
  bool negated = false;   ///< `!p`
  std::int64_t offset = 0;
  std::vector<Operand> parts;
};

struct Statement {
  std::string text;
  std::string label;               ///< `loop:`; then nothing else is set
  std::optional<Operand> guard;    ///< `@p` or `@!p`
  std::vector<std::string> opcode; ///< split at the dots: add, rn, f32
  std::vector<Operand> operands;
  bool isDeclaration = false; ///< `.reg .b32 r<4>;`: opcode = reg, b32; operands name the registers

  bool has(const std::string& modifier) const;
  const std::string& type() const { return opcode.back(); }
};

/// The text of an asm statement of the IR: `$$` is a dollar sign. Absent when it is not understood; `failure`
/// then holds the statement.
std::optional<std::vector<Statement>> parse(const std::string& text, std::string& failure);

} // namespace kcheck::ptx
