// One asm statement on its way to IR: its registers and placeholders as local variables, and the operations
// that the tables of rules (ops_*.cpp) are made of. Scalar promotion turns the variables into values.
#pragma once

#include "instrument/pass/lowering.h"
#include "instrument/pass/ptx/statement.h"
#include "instrument/pass/ptx/types.h"

namespace llvm {
class AllocaInst;
}

namespace kcheck::instrument::ptx {

class Builder {
public:
  explicit Builder(Lowering& lowering);

  Lowering& l;
  llvm::IRBuilder<>& b;

  /// What register or immediate `operand` holds, as bits of the type (zero-extended or cut), or as a value.
  llvm::Value* bits(const Operand& operand, const Type& type);
  llvm::Value* value(const Operand& operand, const Type& type) {
    return toValue(b, bits(operand, type), type);
  }
  llvm::Value* predicate(const Operand& operand);
  /// Writes an integer; extends it as `isSigned` says when the register is wider.
  void write(const Operand& operand, llvm::Value* integer, bool isSigned = false);
  void writeValue(const Operand& operand, llvm::Value* value, const Type& type,
                  Rounding rounding = Rounding::Nearest) {
    write(operand, toBits(b, value, type, rounding), type.isSigned());
  }
  /// The pointer that `[a + 8]` means. In space "shared", 32-bit addresses are completed from the block's
  /// window.
  llvm::Value* address(const Operand& operand, const std::string& space);
  /// The generic address of an offset in shared memory, of which the low 32 bits are enough.
  llvm::Value* fromShared(llvm::Value* offset);

  bool declare(const Statement& statement);
  /// Null when the register is unknown.
  llvm::Value* special(const std::string& name);

  /// Results of the whole asm statement.
  llvm::Value* results();
  bool isWellFormed() const { return wellFormed; }

private:
  std::map<std::string, llvm::AllocaInst*> registers;
  std::vector<llvm::AllocaInst*> outputs;
  std::vector<llvm::Value*> inputs; ///< by placeholder number, after the outputs
  bool wellFormed = true;

  llvm::AllocaInst* variable(unsigned bits);
  llvm::Value* asInteger(llvm::Value* value);
  llvm::AllocaInst* find(const Operand& operand);
};

using Rule = bool (*)(Builder&, const Statement&); ///< false: this form is not supported
using Rules = std::map<std::string, Rule>;         ///< by the opcode's first word

void addMoves(Rules& rules);
void addConversions(Rules& rules);
void addIntegers(Rules& rules);
void addBits(Rules& rules);
void addFloats(Rules& rules);
void addComparisons(Rules& rules);
void addMemory(Rules& rules);
void addSynchronisation(Rules& rules);
void addVideo(Rules& rules);
void addTextures(Rules& rules);
void addAsync(Rules& rules);
void addMatrices(Rules& rules);

} // namespace kcheck::instrument::ptx
