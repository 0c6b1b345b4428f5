// The runtime's calls and records as LLVM sees them. Names and types come from abi_calls.def and the offsets
// from abi.h, so that pass and runtime cannot disagree.
#pragma once

#include "instrument/abi.h"

#include <llvm/IR/IRBuilder.h>

namespace kcheck::instrument {

enum class Call {
#define KC_CALL(name, ...) name,
#include "instrument/abi_calls.def"
#undef KC_CALL
};

/// The declaration of a runtime call in `module`, made when it is not there yet.
llvm::FunctionCallee runtimeCall(llvm::Module& module, Call call);

/// Which runtime call this instruction makes, if any.
bool isCallTo(const llvm::Instruction& instruction, Call call);

/// `base + offset` bytes.
llvm::Value* byteOffset(llvm::IRBuilderBase& builder, llvm::Value* base, std::uint64_t offset);

/// Loads a field of ThreadContext or BlockContext (offset by offsetof).
llvm::LoadInst* loadField(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* record,
                          std::uint64_t offset, const llvm::Twine& name = "");

} // namespace kcheck::instrument
