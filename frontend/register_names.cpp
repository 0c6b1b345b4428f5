#include "frontend/register_names.h"

#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>

namespace kcheck::frontend {
namespace {

constexpr char kStandIn = '`'; // no character of PTX

/// Where `%` begins a name: operands are a number or a name in brackets, behind a letter perhaps.
bool beginsName(llvm::StringRef text, std::size_t at) {
  const auto charAt = [&](std::size_t i) { return i < text.size() ? text[i] : '"'; };
  if (text[at] != '%' || (!llvm::isAlpha(charAt(at + 1)) && charAt(at + 1) != '_')) return false;
  return !llvm::isDigit(charAt(at + 2)) && charAt(at + 2) != '[';
}

/// Follows the parser's tokens through `asm volatile ( "..." "..."`.
class Watcher {
public:
  explicit Watcher(clang::Preprocessor& preprocessor) : preprocessor(preprocessor) {}

  void see(clang::Token& token) {
    switch (token.getKind()) {
    case clang::tok::kw_asm: state = State::Head; break;
    case clang::tok::l_paren: state = state == State::Head ? State::Text : State::Elsewhere; break;
    case clang::tok::kw_volatile:
    case clang::tok::kw_inline:
    case clang::tok::kw_goto:
      if (state != State::Head) state = State::Elsewhere;
      break;
    case clang::tok::string_literal:
      if (state == State::Text) replaceNames(token);
      break;
    default: state = State::Elsewhere;
    }
  }

private:
  void replaceNames(clang::Token& token) {
    const std::string spelling = preprocessor.getSpelling(token);
    if (spelling.empty() || spelling.front() != '"') return;
    std::string text = spelling;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') continue;
      if (i + 1 < text.size() && text[i + 1] == '%')
        ++i;
      else if (beginsName(spelling, i))
        text[i] = kStandIn;
    }
    if (text == spelling) return;
    char* kept = preprocessor.getPreprocessorAllocator().Allocate<char>(text.size() + 1);
    std::copy_n(text.c_str(), text.size() + 1, kept);
    token.setLiteralData(kept);
    token.setLength(unsigned(text.size()));
    token.clearFlag(clang::Token::NeedsCleaning);
  }

  enum class State { Elsewhere, Head, Text } state = State::Elsewhere;
  clang::Preprocessor& preprocessor;
};

} // namespace

void setRegisterNamesAside(clang::Preprocessor& preprocessor) {
  preprocessor.setTokenWatcher([watcher = Watcher(preprocessor)](const clang::Token& token) mutable {
    watcher.see(const_cast<clang::Token&>(token)); // the parser's own, before it looks at it
  });
}

void restoreRegisterNames(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      auto* assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!assembly || !llvm::StringRef(assembly->getAsmString()).contains(kStandIn)) continue;
      std::string text(assembly->getAsmString());
      std::replace(text.begin(), text.end(), kStandIn, '%');
      call->setCalledOperand(llvm::InlineAsm::get(
          assembly->getFunctionType(), text, assembly->getConstraintString(), assembly->hasSideEffects(),
          assembly->isAlignStack(), assembly->getDialect(), assembly->canThrow()));
    }
}

} // namespace kcheck::frontend
