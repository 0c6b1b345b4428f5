#include "frontend/old_collectives.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace kcheck::frontend {
namespace {

/// As the program calls it; empty of others.
llvm::StringRef nameOf(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return "";
  llvm::StringRef name = call->getCalledFunction()->getName();
  if (!name.consume_front("llvm.nvvm.")) return "";
  for (const auto& [ofPtx, ofCuda] :
       {std::pair("vote.all", "__all"), std::pair("vote.any", "__any"), std::pair("vote.ballot", "__ballot"),
        std::pair("shfl.idx.", "__shfl"), std::pair("shfl.up.", "__shfl_up"),
        std::pair("shfl.down.", "__shfl_down"), std::pair("shfl.bfly.", "__shfl_xor")})
    if (name.starts_with(ofPtx) && !name.contains("sync")) return ofCuda;
  return "";
}

std::string placeOf(const llvm::Instruction& instruction) {
  const llvm::DILocation* where = instruction.getDebugLoc();
  if (!where) return "";
  while (const llvm::DILocation* caller = where->getInlinedAt()) where = caller;
  return fmt::format("{}:{}: ", where->getFilename().str(), where->getLine());
}

} // namespace

std::optional<Error> oldCollective(const llvm::Module& device, const std::string& arch) {
  constexpr unsigned kFirstWithout = 70;
  llvm::StringRef number = arch;
  unsigned version = 0;
  if (!number.consume_front("sm_") || number.consumeInteger(10, version) || version < kFirstWithout)
    return std::nullopt;
  for (const llvm::Function& function : device)
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const std::string name = nameOf(instruction).str();
      if (!name.empty())
        return Error{
            fmt::format("{}there is no `{}` from sm_{} on: `{}_sync`, with the lanes that come as its "
                        "first argument",
                        placeOf(instruction), name, kFirstWithout, name)};
    }
  return std::nullopt;
}

} // namespace kcheck::frontend
