// The tokens of a file as they stand there.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>
#include <vector>

namespace kcheck::frontend {

struct RawToken {
  llvm::StringRef text; ///< points into the text that was given
  std::size_t offset;
};

/// All tokens, without comments and preprocessing. `>>>` is `>>` and `>`.
std::vector<RawToken> tokensOf(const std::string& text);

} // namespace kcheck::frontend
