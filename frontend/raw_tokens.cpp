// Clang's lexer, without a preprocessor behind it.
#include "frontend/raw_tokens.h"

#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

namespace kcheck::frontend {

std::vector<RawToken> tokensOf(const std::string& text) {
  clang::LangOptions options;
  options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 = true;
  options.LineComment = true;
  clang::Lexer lexer(clang::SourceLocation(), options, text.data(), text.data(), text.data() + text.size());
  std::vector<RawToken> tokens;
  clang::Token token;
  do {
    lexer.LexFromRawLexer(token);
    const std::size_t end = std::size_t(lexer.getBufferLocation() - text.data());
    tokens.push_back({llvm::StringRef(text).slice(end - token.getLength(), end), end - token.getLength()});
  } while (!token.is(clang::tok::eof));
  tokens.pop_back();
  return tokens;
}

} // namespace kcheck::frontend
