// Device memory as it was before a launch, so that the launch can happen again: its content, and which of its
// bytes nobody had written.
#pragma once

#include "instrument/runtime/core/shadow.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kcheck::runtime {

struct MemoryRange {
  Address base;
  std::size_t bytes;
};

std::size_t bytesOf(const std::vector<MemoryRange>& ranges);
/// All that is allocated now.
std::vector<MemoryRange> liveMemory();

class MemoryCopy {
public:
  void take(std::vector<MemoryRange> ranges) {
    if (begin(std::move(ranges))) takePart(0, 1);
  }
  /// The same by several threads, each of which takes parts of equal size. False: there is no room.
  bool begin(std::vector<MemoryRange> ranges);
  void takePart(std::size_t part, std::size_t parts);
  /// Puts it back, where the allocations still are.
  void restore() const;
  std::size_t bytes() const { return all; }
  /// The room is kept for the next copy otherwise.
  void dropIfLarge();
  const std::vector<MemoryRange>& ranges() const { return parts; }

private:
  std::vector<MemoryRange> parts;
  std::unique_ptr<std::byte[]> content; ///< of all parts, one behind the other
  std::size_t all = 0, room = 0;
};

/// A launch that happens for a while and then not must not make memory look written.
class UnwrittenCopy {
public:
  explicit UnwrittenCopy(const std::vector<MemoryRange>& ranges);
  void restore() const;

private:
  using Bytes = std::uint64_t; ///< a bit for each of a line
  static Bytes unwrittenIn(Address line);
  struct Part {
    Address firstLine;
    std::vector<Bytes> lines;
  };
  std::vector<Part> parts;
};

} // namespace kcheck::runtime
