#include "instrument/pass/abi_calls.h"

#include <llvm/IR/Module.h>

#include <array>
#include <vector>

namespace kcheck::instrument {

namespace {

enum class Word { Void, I1, I32, I64, Ptr };

struct Signature {
  const char* name;
  std::vector<Word> words; ///< result first
};

const std::vector<Signature>& signatures() {
  using enum Word;
  static const std::vector<Signature> all = {
#define KC_CALL(name, ...) {#name, {__VA_ARGS__}},
#include "instrument/abi_calls.def"
#undef KC_CALL
  };
  return all;
}

llvm::Type* typeOf(llvm::LLVMContext& context, Word word) {
  switch (word) {
  case Word::Void: return llvm::Type::getVoidTy(context);
  case Word::I1: return llvm::Type::getInt1Ty(context);
  case Word::I32: return llvm::Type::getInt32Ty(context);
  case Word::I64: return llvm::Type::getInt64Ty(context);
  case Word::Ptr: return llvm::PointerType::get(context, 0);
  }
  return nullptr;
}

} // namespace

llvm::FunctionCallee runtimeCall(llvm::Module& module, Call call) {
  const Signature& signature = signatures().at(std::size_t(call));
  std::vector<llvm::Type*> types;
  for (Word word : signature.words) types.push_back(typeOf(module.getContext(), word));
  auto* result = types.front();
  types.erase(types.begin());
  auto callee = module.getOrInsertFunction(signature.name, llvm::FunctionType::get(result, types, false));
  llvm::cast<llvm::Function>(callee.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
  return callee;
}

bool isCallTo(const llvm::Instruction& instruction, Call call) {
  const auto* site = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = site ? site->getCalledFunction() : nullptr;
  return callee && callee->getName() == signatures()[std::size_t(call)].name;
}

llvm::Value* byteOffset(llvm::IRBuilderBase& builder, llvm::Value* base, std::uint64_t offset) {
  return offset ? builder.CreateConstGEP1_64(builder.getInt8Ty(), base, offset) : base;
}

llvm::LoadInst* loadField(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* record,
                          std::uint64_t offset, const llvm::Twine& name) {
  return builder.CreateLoad(type, byteOffset(builder, record, offset), name);
}

} // namespace kcheck::instrument
