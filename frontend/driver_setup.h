// From kcheck's options to clang's own: the -cc1 command lines of the device and the host compilation of one
// file, as clang's driver would run them.
#pragma once

#include "frontend/frontend.h"
#include "frontend/toolkit.h"

namespace kcheck::frontend {

/// The last header that is included before the user's text.
inline constexpr const char* kPrelude = KCHECK_SOURCE_HEADERS "/shim/kcheck_prelude.h";

using Arguments = std::vector<std::string>;

struct CompileJobs {
  std::string file;
  std::string text;         ///< compiled instead of the file's own
  std::size_t userText = 0; ///< bytes of `text` that are the user's; what follows is a launch line's main
  Arguments device;         ///< arguments after -cc1; empty for plain C++ files
  Arguments host;
  std::vector<std::pair<std::string, std::string>> replaced; ///< headers that are compiled with another text
};

/// `file` is a path as the user gave it. `extra` are further driver arguments for this file alone.
OrError<CompileJobs> planJobs(const Options& options, const Toolkit& toolkit, const std::string& file,
                              const Arguments& extra);

} // namespace kcheck::frontend
