// Where each shared variable lies in the block's window. A variable has one place in the whole module, so
// that functions which several kernels call find it; variables of different kernels may overlap. Redzones
// between them let the runtime see an overrun.
#include "instrument/pass/call_graph.h"
#include "instrument/pass/stages.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

#include <algorithm>

namespace kcheck::instrument {

namespace {

constexpr std::uint64_t kRedzone = 32;
constexpr unsigned kSharedSpace = 3;

using Users = std::map<llvm::GlobalVariable*, std::set<std::size_t>>; ///< variable -> kernels that reach it

bool isStatic(const llvm::GlobalVariable& variable) {
  const auto& layout = variable.getParent()->getDataLayout();
  return !variable.isDeclaration() && layout.getTypeAllocSize(variable.getValueType()).getFixedValue() != 0;
}

/// What the user called a variable that the front end mangled: `_ZZ1kPf1PiE1s` is `s`.
std::string nameOf(const llvm::GlobalVariable& variable) {
  std::string full = llvm::demangle(variable.getName().str());
  auto last = full.rfind("::");
  return last == std::string::npos ? full : full.substr(last + 2);
}

Users usersOf(DeviceCode& code, const std::vector<llvm::GlobalVariable*>& variables) {
  const CallGraph graph(code.module);
  Users users;
  for (llvm::GlobalVariable* variable : variables) users[variable];
  for (std::size_t number = 0; number < code.kernels.size(); ++number)
    for (llvm::Function* function : graph.reachable(*code.kernels[number].entry))
      for (llvm::Instruction& instruction : llvm::instructions(*function))
        for (llvm::Value* operand : instruction.operands())
          if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(operand))
            if (auto found = users.find(variable); found != users.end()) found->second.insert(number);
  return users;
}

} // namespace

void placeSharedMemory(DeviceCode& code) {
  std::vector<llvm::GlobalVariable*> variables;
  llvm::SmallVector<llvm::Constant*> expand;
  for (llvm::GlobalVariable& variable : code.module.globals())
    if (variable.getAddressSpace() == kSharedSpace) {
      expand.push_back(&variable);
      if (isStatic(variable)) variables.push_back(&variable);
    }
  llvm::convertUsersOfConstantsToInstructions(expand);
  const Users users = usersOf(code, variables);
  // Those that several kernels share come first: their place must be free in all of these.
  std::vector<llvm::GlobalVariable*> widest;
  for (std::size_t count = code.kernels.size() + 1; count-- > 0;)
    for (llvm::GlobalVariable* variable : variables)
      if (users.at(variable).size() == count) widest.push_back(variable);
  const auto& layout = code.module.getDataLayout();
  for (llvm::GlobalVariable* variable : widest) {
    PlacedShared placed{.name = nameOf(*variable)};
    placed.bytes = std::uint32_t(layout.getTypeAllocSize(variable->getValueType()).getFixedValue());
    placed.align = std::uint32_t(variable->getAlign().valueOrOne().value());
    std::uint64_t offset = 0;
    for (std::size_t number : users.at(variable))
      offset = std::max<std::uint64_t>(offset, code.kernels[number].sharedBytes);
    offset = llvm::alignTo(offset, std::max<std::uint64_t>(placed.align, 16));
    placed.offset = std::uint32_t(offset);
    code.sharedOffsets[variable] = placed.offset;
    for (std::size_t number : users.at(variable)) {
      KernelCode& kernel = code.kernels[number];
      kernel.shared.push_back(placed);
      kernel.sharedBytes = std::uint32_t(llvm::alignTo(offset + placed.bytes, 16) + kRedzone);
      kernel.declaredSharedBytes =
          std::uint32_t(llvm::alignTo(kernel.declaredSharedBytes, std::max(placed.align, 1u)) + placed.bytes);
    }
  }
}

} // namespace kcheck::instrument
