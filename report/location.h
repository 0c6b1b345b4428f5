// Where something stands in the source, and the small words of CUDA's execution model: plain records that
// every room, the runtime included, may use. No dependencies.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace kcheck {

/// A place in a source file. Lines and columns count from 1; 0 means unknown. `endColumn` is one past the
/// last column on the same line, or 0 when only the start is known.
struct Location {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  unsigned endColumn = 0;

  bool known() const { return line != 0; }
  friend bool operator==(const Location&, const Location&) = default;
  friend auto operator<=>(const Location&, const Location&) = default;
};

/// An extent or an index in CUDA's order x, y, z.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;

  std::uint64_t volume() const { return std::uint64_t(x) * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
  friend auto operator<=>(const Dim3&, const Dim3&) = default;
};

/// A launch extent of which not every axis need be known.
struct Extent {
  std::optional<std::uint32_t> x, y, z;

  Extent() = default;
  Extent(Dim3 all) : x(all.x), y(all.y), z(all.z) {}
  Extent(std::optional<std::uint32_t> x, std::optional<std::uint32_t> y, std::optional<std::uint32_t> z)
      : x(x), y(y), z(z) {}
  bool unknown() const { return !x && !y && !z; }
  std::optional<Dim3> whole() const {
    return x && y && z ? std::optional<Dim3>(Dim3{*x, *y, *z}) : std::nullopt;
  }
  friend bool operator==(const Extent&, const Extent&) = default;
};

enum class AccessKind : std::uint8_t { Read, Write, Atomic };
enum class MemorySpace : std::uint8_t { Generic, Global, Shared, Local, Constant };

const char* toString(AccessKind kind);
const char* toString(MemorySpace space);
std::string toString(const Extent& extent); ///< `128`, `(32,8)`, `(*,4)`, `*` for an unknown one

} // namespace kcheck
