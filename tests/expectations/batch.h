// Many files as one: a compiler that is only asked whether files compile reads their common headers once for
// all of them, each file in a namespace of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kcheck::expectations {

struct Batch {
  std::string architecture;
  std::vector<std::filesystem::path> files;
};

/// The files in their order, by twenty-four, those of one architecture together.
std::vector<Batch> batchesOf(const std::vector<std::filesystem::path>& files);

/// The source that includes them: what they include comes first, and what one defines ends with it.
std::string sourceOf(const Batch& batch);

} // namespace kcheck::expectations
