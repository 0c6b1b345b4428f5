// How far host memory that a copy reads or fills reaches, where the C library's heap tells. glibc's, that is:
// a block lies behind two words, of which the second is its size with three flags, and the next block follows
// it. Of another heap nothing is known.
#pragma once

#include <cstddef>
#include <optional>

namespace kcheck::runtime {

/// How many bytes there are from the pointer to the end of its block, if that is known to be less than
/// `bytes`.
std::optional<std::size_t> tooLittleRoom(const void* pointer, std::size_t bytes);

} // namespace kcheck::runtime
