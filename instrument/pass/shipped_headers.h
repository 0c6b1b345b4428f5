// Tells the headers that kcheck ships (frontend/headers) from the user's own code, by their place.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace kcheck::instrument {

inline bool isShippedHeader(llvm::StringRef file) {
  return file.contains("headers/cuda/") || file.contains("headers/shim/");
}

} // namespace kcheck::instrument
