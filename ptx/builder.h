// One asm statement on its way to IR: its registers and placeholders as local variables, and the operations
// that the tables of rules (ops_*.cpp) are made of. Scalar promotion turns the variables into values.
#pragma once

#include "ptx/statement.h"
#include "ptx/target.h"
#include "ptx/types.h"

#include <llvm/IR/Instructions.h>

#include <map>
#include <vector>

namespace kcheck::ptx {

class Builder {
public:
  /// `b` inserts before the call.
  Builder(llvm::CallInst& call, llvm::IRBuilder<>& b, Target& target);

  llvm::CallInst& call; ///< the asm statement
  llvm::IRBuilder<>& b;
  Target& target;

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

  /// Accesses and fences that stand for the asm statement.
  llvm::LoadInst* load(llvm::Type* type, llvm::Value* address, llvm::Align align);
  llvm::StoreInst* store(llvm::Value* value, llvm::Value* address, llvm::Align align);
  llvm::Value* update(llvm::AtomicRMWInst::BinOp operation, llvm::Value* address, llvm::Value* value,
                      llvm::AtomicOrdering ordering, Scope scope);
  /// The old value.
  llvm::Value* compareExchange(llvm::Value* address, llvm::Value* expected, llvm::Value* desired,
                               llvm::AtomicOrdering ordering, Scope scope);
  void fence(llvm::AtomicOrdering ordering, Scope scope);
  void setAtomic(llvm::LoadInst& load, llvm::AtomicOrdering ordering, Scope scope);
  void setAtomic(llvm::StoreInst& store, llvm::AtomicOrdering ordering, Scope scope);
  /// A call of a function of CUDA's device library, or of one like it (`__nv_fadd_rd`).
  llvm::Value* library(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);

  bool declare(const Statement& statement);

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

/// What every reader of PTX understands in the same way.
const Rules& commonRules();

void addMoves(Rules& rules);
void addConversions(Rules& rules);
void addIntegers(Rules& rules);
void addBits(Rules& rules);
void addFloats(Rules& rules);
void addComparisons(Rules& rules);
void addMemory(Rules& rules);
void addVideo(Rules& rules);
void addScalarVideo(Rules& rules);

} // namespace kcheck::ptx
