// CUDA source taken apart into code and comments, line by line; strings and block comments are seen as such.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kcheck::expectations {

struct SourceLine {
  std::string text;    ///< as it stands in the file
  std::string code;    ///< without comments; string contents blanked
  std::string comment; ///< of a `//` comment, without the slashes
  bool hasCode = false;
};

/// The file's text; empty where there is none.
std::string contentOf(const std::filesystem::path& path);

std::vector<SourceLine> splitSource(const std::string& text);

} // namespace kcheck::expectations
