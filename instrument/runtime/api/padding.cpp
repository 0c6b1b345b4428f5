// Tells padding from forgotten words by alignment and repetition.
#include "instrument/runtime/api/padding.h"

namespace kcheck::runtime::api {
namespace {

inline constexpr std::size_t kLargestSingle = 64; ///< bytes of a structure that is copied alone

/// The smallest alignment that explains the gap, or 0.
std::size_t alignmentBehind(const Gap& gap) {
  for (std::size_t alignment : {2, 4, 8, 16})
    if (gap.end % alignment == 0 && gap.end - gap.begin < alignment) return alignment;
  return 0;
}

bool isWritten(const std::vector<Gap>& gaps, std::size_t count, std::size_t begin, std::size_t end) {
  for (std::size_t i = 0; i < count; ++i)
    if (gaps[i].begin < end && begin < gaps[i].end) return false;
  return true;
}

/// Some member of that size must be there, or nothing would need the alignment.
bool hasMember(const std::vector<Gap>& gaps, std::size_t count, std::size_t period, std::size_t size) {
  for (std::size_t at = 0; at + size <= period; at += size)
    if (isWritten(gaps, count, at, at + size)) return true;
  return false;
}

bool repeats(const std::vector<Gap>& gaps, std::size_t perElement, std::size_t period) {
  for (std::size_t i = perElement; i < gaps.size(); ++i)
    if (gaps[i].begin != gaps[i - perElement].begin + period ||
        gaps[i].end != gaps[i - perElement].end + period)
      return false;
  return true;
}

} // namespace

bool arePadding(const std::vector<Gap>& gaps, std::size_t bytes) {
  std::size_t largest = 1;
  for (const Gap& gap : gaps) {
    std::size_t alignment = alignmentBehind(gap);
    if (!alignment) return false;
    if (alignment > largest) largest = alignment;
  }
  // The fewest gaps per element that make a period.
  for (std::size_t perElement = 1; perElement <= gaps.size(); ++perElement) {
    if (gaps.size() % perElement != 0) continue;
    std::size_t elements = gaps.size() / perElement;
    if (bytes % elements != 0 || (elements == 1 && bytes > kLargestSingle)) continue;
    std::size_t period = bytes / elements;
    if (period % largest == 0 && repeats(gaps, perElement, period))
      return hasMember(gaps, perElement, period, largest);
  }
  return false;
}

} // namespace kcheck::runtime::api
