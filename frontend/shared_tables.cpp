#include "frontend/shared_tables.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

#include <map>
#include <vector>

namespace kcheck::frontend {
namespace {

constexpr unsigned kShared = 3;

bool namesShared(const llvm::Constant& constant) {
  if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&constant))
    return variable->getAddressSpace() == kShared;
  return llvm::any_of(constant.operands(), [](const llvm::Use& operand) {
    return llvm::isa<llvm::Constant>(operand) && namesShared(*llvm::cast<llvm::Constant>(operand));
  });
}

/// What stands at so many bytes from the start.
struct Entry {
  llvm::Constant* value;
  std::uint64_t offset;
};

class Table {
public:
  explicit Table(llvm::GlobalVariable& variable) : variable(variable), layout(variable.getDataLayout()) {
    collect(*variable.getInitializer(), 0);
  }

  void writeOut() {
    llvm::convertUsersOfConstantsToInstructions({&variable});
    for (llvm::User* user : llvm::make_early_inc_range(variable.users())) {
      auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
      if (!instruction) continue;
      if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(instruction); copy && takes(*copy)) {
        store(copy->getRawDest(), copy->getDestAlign().valueOrOne(), *copy);
        copy->eraseFromParent();
      } else {
        instruction->replaceUsesOfWith(&variable, inFunction(*instruction->getFunction()));
      }
    }
    if (variable.use_empty()) variable.eraseFromParent();
  }

private:
  void collect(llvm::Constant& constant, std::uint64_t offset) {
    llvm::Type* type = constant.getType();
    auto* structure = llvm::dyn_cast<llvm::StructType>(type);
    if (!structure && !type->isArrayTy()) {
      entries.push_back({&constant, offset});
      return;
    }
    const std::uint64_t count = structure ? structure->getNumElements() : type->getArrayNumElements();
    for (unsigned i = 0; i < count; ++i) {
      llvm::Constant& element = *constant.getAggregateElement(i);
      const std::uint64_t step = structure
                                     ? layout.getStructLayout(structure)->getElementOffset(i).getFixedValue()
                                     : i * layout.getTypeAllocSize(element.getType()).getFixedValue();
      collect(element, offset + step);
    }
  }

  /// Whether all of the table is copied.
  bool takes(const llvm::MemTransferInst& copy) const {
    auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
    return length && copy.getRawSource() == &variable &&
           length->getZExtValue() == layout.getTypeAllocSize(variable.getValueType());
  }

  void store(llvm::Value* to, llvm::Align align, llvm::Instruction& before) {
    llvm::IRBuilder<> builder(&before);
    for (const Entry& entry : entries) {
      if (llvm::isa<llvm::UndefValue>(entry.value)) continue;
      llvm::Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), to, entry.offset);
      builder.CreateAlignedStore(entry.value, place, llvm::commonAlignment(align, entry.offset));
    }
  }

  /// A copy in a local variable.
  llvm::Value* inFunction(llvm::Function& function) {
    llvm::AllocaInst*& local = locals[&function];
    if (local) return local;
    llvm::Instruction& first = *function.getEntryBlock().getFirstInsertionPt();
    llvm::IRBuilder<> builder(&first);
    local = builder.CreateAlloca(variable.getValueType(), nullptr, variable.getName());
    local->setAlignment(variable.getAlign().valueOrOne());
    store(local, local->getAlign(), first);
    return local;
  }

  llvm::GlobalVariable& variable;
  const llvm::DataLayout& layout;
  std::vector<Entry> entries;
  std::map<llvm::Function*, llvm::AllocaInst*> locals;
};

} // namespace

void writeOutSharedTables(llvm::Module& module) {
  std::vector<llvm::GlobalVariable*> tables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.isConstant() && variable.hasInitializer() && namesShared(*variable.getInitializer()))
      tables.push_back(&variable);
  for (llvm::GlobalVariable* table : tables) Table(*table).writeOut();
}

} // namespace kcheck::frontend
