#include "instrument/pass/bit_fields.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Instructions.h>

namespace kcheck::instrument {

bool isBitFieldUpdate(const llvm::LoadInst& load) {
  if (!load.getName().starts_with("bf.load")) return false; // clang's: not the program's own `x &= mask`
  return !load.use_empty() && llvm::all_of(load.users(), [&](const llvm::User* mask) {
    if (mask->use_empty() || llvm::cast<llvm::Instruction>(mask)->getOpcode() != llvm::Instruction::And)
      return false;
    return llvm::all_of(mask->users(), [&](const llvm::User* user) {
      auto goesBack = [&](const llvm::User* last) {
        const auto* store = llvm::dyn_cast<llvm::StoreInst>(last);
        return store && store->getPointerOperand() == load.getPointerOperand();
      };
      return goesBack(user) || (llvm::cast<llvm::Instruction>(user)->getOpcode() == llvm::Instruction::Or &&
                                llvm::all_of(user->users(), goesBack));
    });
  });
}

} // namespace kcheck::instrument
