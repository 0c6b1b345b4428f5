// What kernels promise of their arrays (include/kcheck/annotations.h), looked at by the first thread of the
// grid that comes to say so.
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/memory.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/shadow.h"
#include "instrument/runtime/core/state.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

using namespace kcheck;
using namespace kcheck::runtime;

namespace {

enum Promise : std::uint32_t { HasExtent, IsDistinct, IsPermutation, Ascends, AscendsUnsigned };

bool isFirstThread(const abi::ThreadContext& thread) {
  const abi::BlockContext& block = *thread.block;
  return thread.linear == 0 && block.blockIdx[0] == 0 && block.blockIdx[1] == 0 && block.blockIdx[2] == 0;
}

std::string elements(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements");
}

/// What is wrong with the extent; empty when nothing is, or when the memory is not the device's.
std::string wrongExtent(const std::byte* array, std::uint64_t count, std::uint32_t bytes) {
  const Allocation* allocation = find(array);
  if (!allocation || !allocation->live) return {};
  const auto* base = static_cast<const std::byte*>(allocation->base);
  if (array < base || array > base + allocation->bytes) return {};
  const std::uint64_t room = std::uint64_t(base + allocation->bytes - array) / bytes;
  if (count <= room) return {};
  return "the array has " + elements(room) + ", not " + std::to_string(count);
}

/// Which values are not as promised; empty when all are.
std::string wrongValues(const std::byte* array, std::uint64_t count, std::uint32_t bytes,
                        bool isPermutation) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> values(count); // with the index
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memcpy(&values[i].first, array + i * bytes, std::min<std::size_t>(bytes, sizeof(std::uint64_t)));
    values[i].second = i;
    if (isPermutation && values[i].first >= count)
      return "element " + std::to_string(i) + " is not from 0 to " + std::to_string(count - 1);
  }
  std::sort(values.begin(), values.end());
  const auto same = std::adjacent_find(values.begin(), values.end(),
                                       [](const auto& a, const auto& b) { return a.first == b.first; });
  if (same == values.end()) return {};
  return "elements " + std::to_string(same->second) + " and " + std::to_string(same[1].second) +
         " are the same";
}

/// Which element is less than the one before it, or, of unsigned ones, in the upper half of its range; empty
/// when none is.
std::string wrongOrder(const std::byte* array, std::uint64_t count, std::uint32_t bytes, bool isSigned) {
  std::int64_t before = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, array + i * bytes, std::min<std::size_t>(bytes, sizeof bits));
    const unsigned unused = bytes < sizeof bits ? 64 - 8 * bytes : 0;
    const auto here = std::int64_t(bits << unused) >> unused;
    if (!isSigned && here < 0) return "element " + std::to_string(i) + " is in the upper half of its range";
    if (i > 0 && here < before) return "element " + std::to_string(i) + " is less than the one before it";
    before = here;
  }
  return {};
}

} // namespace

extern "C" {

void kcArrayPromise(abi::ThreadContext* context, void* array, std::int64_t count, std::uint32_t bytes,
                    std::uint32_t promise, const char* file, std::uint32_t line) {
  if (!isFirstThread(*context) || count <= 0 || bytes == 0 || !inArena(reinterpret_cast<Address>(array)))
    return;
  const auto* start = static_cast<const std::byte*>(array);
  const auto elementCount = std::uint64_t(count);
  std::string wrong = wrongExtent(start, elementCount, bytes);
  if (wrong.empty() && (promise == Ascends || promise == AscendsUnsigned))
    wrong = wrongOrder(start, elementCount, bytes, promise == Ascends);
  else if (wrong.empty() && promise != HasExtent)
    wrong = wrongValues(start, elementCount, bytes, promise == IsPermutation);
  if (wrong.empty()) return;
  auto& thread = *static_cast<ThreadState*>(context);
  wire::Finding finding = emptyFinding(wire::Rule::AssertFailed);
  finding.kernel = thread.owner().launch->name;
  finding.accessCount = 1;
  finding.access[0] = describeThread(thread, wire::kNoSite, wire::Doing::None);
  finding.text = text(wrong.c_str());
  finding.detail = text(file);
  finding.numbers[0] = line;
  finding.numbers[1] = 2;
  report(finding);
}

} // extern "C"
