// Bytes that nobody writes because no member of a structure lies there. Copies of whole structures carry them
// along, and that is no mistake.
#pragma once

#include <cstddef>
#include <vector>

namespace kcheck::runtime::api {

/// A run of unwritten bytes, as offsets from an address that is aligned to 16.
struct Gap {
  std::size_t begin, end;
};

inline constexpr std::size_t kLongestPadding = 15; ///< before a member aligned to 16

/// Whether all the gaps of [0, bytes) can be padding: each ends where a larger member begins or the structure
/// ends, and they repeat from element to element. One lone gap in many bytes is none, nor is every other
/// word.
bool arePadding(const std::vector<Gap>& gaps, std::size_t bytes);

} // namespace kcheck::runtime::api
