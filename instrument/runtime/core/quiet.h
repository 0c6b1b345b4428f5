// Arrays that a launch only reads. Nothing that runs beside it can change them and all of their bytes have
// been written, so a read there is in order, in bounds and initialised wherever it falls, and nobody has to
// remember who made it.
#pragma once

#include "instrument/runtime/core/memory_copy.h"
#include "instrument/runtime/core/shadow.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace kcheck::runtime {

struct Allocation;
struct LaunchState;

/// The arrays that the launch's kernel can write, as its arguments have them; none where that is not known.
std::optional<std::set<const Allocation*>> arraysWrittenBy(const LaunchState& launch);
/// The same, and all variables, by address: where it can write, as far as indices stay in their arrays.
std::optional<std::vector<MemoryRange>> memoryWrittenBy(const LaunchState& launch);
/// Whether all of the array is known to be written, after a look at so many bytes at most. A part that has
/// been seen written is not looked at again.
bool isWritten(Allocation& array, std::uint64_t atMost = ~std::uint64_t{0});

class QuietArrays {
public:
  /// Those that the launch's arguments point into; none where other streams are in use, or where the kernel
  /// may write through pointers that nobody knows.
  void find(const LaunchState& launch);
  bool any() const { return count != 0; }
  /// Whether a row of `bytes` each, all aligned, lies within the one of them that begins at `own`, or any one
  /// if that is 0. `isRun`: its addresses ascend.
  bool cover(const Address* at, std::uint32_t lanes, std::uint32_t bytes, bool isRun, Address own) const {
    for (std::uint32_t i = 0; i < count; ++i)
      if (at[0] - ranges[i].low < ranges[i].end - ranges[i].low)
        return ranges[i].isOwn(own) && ranges[i].holds(at, lanes, bytes, isRun);
    return false;
  }
  /// The same of aligned accesses at addresses from `low` to `high`.
  bool cover(Address low, Address high, std::uint32_t bytes, Address own) const {
    for (std::uint32_t i = 0; i < count; ++i)
      if (low - ranges[i].low < ranges[i].end - ranges[i].low)
        return ranges[i].isOwn(own) && ranges[i].end - ranges[i].low >= bytes &&
               high - ranges[i].low <= ranges[i].end - ranges[i].low - bytes;
    return false;
  }
  /// The same of a write: where a stray index has led it into one of them, there are none from here on.
  void noteWrite(const Address* at, std::uint32_t lanes, std::uint32_t bytes, bool isRun) {
    if (!between.holds(at, lanes, bytes, isRun)) lookAtWrite(at, lanes, bytes, isRun);
  }
  /// Both for a single access.
  bool cover(Address at, std::uint64_t bytes) const {
    return any() && cover(&at, 1, static_cast<std::uint32_t>(bytes), true, 0);
  }
  void noteWrite(Address at, std::uint64_t bytes) {
    if (any()) noteWrite(&at, 1, static_cast<std::uint32_t>(bytes), true);
  }

private:
  static constexpr std::uint32_t kMost = 8;
  struct Range {
    Address low = 0, end = 0;
    bool isOwn(Address own) const { return !own || own == low; }
    bool holds(const Address* at, std::uint32_t lanes, std::uint32_t bytes, bool isRun) const {
      if (end - low < bytes) return false;
      Address last = end - low - bytes;
      if (!isRun) return holdsAll(at, last, bytes);
      return at[0] - low <= last && at[lanes - 1] - low <= last && !(at[0] & (bytes - 1u));
    }
    bool holdsAll(const Address* at, Address last, std::uint32_t bytes) const;
  };
  Range ranges[kMost];
  Range between; ///< around the last write, and none of `ranges`
  std::uint32_t count = 0;

  void lookAtWrite(const Address* at, std::uint32_t lanes, std::uint32_t bytes, bool isRun);
};

} // namespace kcheck::runtime
