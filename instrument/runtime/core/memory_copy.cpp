#include "instrument/runtime/core/memory_copy.h"

#include "instrument/runtime/core/context.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace kcheck::runtime {
namespace {

bool isLive(const MemoryRange& range) {
  void* memory = reinterpret_cast<void*>(range.base);
  const Allocation* allocation = find(memory);
  return allocation && allocation->live && allocation->base == memory;
}

/// Gives cells of the line a meaning that nobody has looked at yet.
void materialiseLine(Address line, const MemoryRange& range) {
  for (Address at = std::max(line, range.base), end = std::min(line + kLineBytes, range.base + range.bytes);
       at < end; at = (at | 3) + 1) {
    if (lineOf(at).closed) return;
    if (openCellOf(at).write == kUnknown) context().allocations.materialise(at);
  }
}

} // namespace

std::size_t bytesOf(const std::vector<MemoryRange>& ranges) {
  std::size_t sum = 0;
  for (const MemoryRange& range : ranges) sum += range.bytes;
  return sum;
}

std::vector<MemoryRange> liveMemory() {
  std::lock_guard lock(context().mutex);
  std::vector<MemoryRange> ranges;
  context().allocations.forEach([&](const Allocation& allocation) {
    if (allocation.live && allocation.bytes)
      ranges.push_back({reinterpret_cast<Address>(allocation.base), allocation.bytes});
  });
  return ranges;
}

bool MemoryCopy::begin(std::vector<MemoryRange> ranges) {
  parts = std::move(ranges);
  all = bytesOf(parts);
  if (all <= room) return true;
  content.reset();
  content.reset(new (std::nothrow) std::byte[all]);
  room = content ? all : 0;
  if (content) return true;
  parts.clear(); // nothing to put back
  all = 0;
  return false;
}

void MemoryCopy::dropIfLarge() {
  constexpr std::size_t large = std::size_t{64} << 20;
  if (room <= large) return;
  content.reset();
  room = 0;
}

void MemoryCopy::takePart(std::size_t part, std::size_t of) {
  std::size_t from = all * part / of, to = all * (part + 1) / of, start = 0;
  for (const MemoryRange& range : parts) {
    std::size_t low = std::max(from, start), high = std::min(to, start + range.bytes);
    if (low < high)
      std::memcpy(content.get() + low, reinterpret_cast<const void*>(range.base + (low - start)), high - low);
    start += range.bytes;
  }
}

void MemoryCopy::restore() const {
  std::size_t start = 0;
  for (const MemoryRange& range : parts) {
    void* memory = reinterpret_cast<void*>(range.base);
    const std::byte* before = content.get() + start;
    start += range.bytes;
    if (isLive(range) && std::memcmp(memory, before, range.bytes) != 0)
      std::memcpy(memory, before, range.bytes);
  }
}

UnwrittenCopy::Bytes UnwrittenCopy::unwrittenIn(Address at) {
  if (const Line& line = lineOf(at); line.closed) return line.write == kUnwritten ? ~Bytes{0} : 0;
  const Cell* cells = &openCellOf(at);
  Bytes found = 0;
  for (unsigned word = 0; word < kLineWords; ++word) {
    Bytes bytes = cells[word].write == kUnwritten ? 0xF : 0;
    if (cells[word].write == kBytes)
      for (unsigned i = 0; i < 4; ++i)
        bytes |= Bytes{byteCells(cells[word]).cell[i].write == kUnwritten} << i;
    found |= bytes << 4 * word;
  }
  return found;
}

UnwrittenCopy::UnwrittenCopy(const std::vector<MemoryRange>& ranges) {
  for (const MemoryRange& range : ranges) {
    Part& part = parts.emplace_back(Part{range.base & ~(kLineBytes - 1), {}});
    Address end = range.base + range.bytes;
    part.lines.reserve((end - part.firstLine) / kLineBytes + 1);
    for (Address line = part.firstLine; line < end; line += kLineBytes) {
      if (!lineOf(line).closed) materialiseLine(line, range);
      part.lines.push_back(unwrittenIn(line));
    }
  }
}

void UnwrittenCopy::restore() const {
  for (const Part& part : parts)
    for (std::size_t i = 0; i < part.lines.size(); ++i) {
      Address line = part.firstLine + i * kLineBytes;
      if (!part.lines[i]) continue;
      Bytes lost = part.lines[i] & ~unwrittenIn(line);
      if (lost == ~Bytes{0})
        fillShadow(line, kLineBytes, kUnwritten);
      else
        for (; lost; lost &= lost - 1)
          fillShadow(line + static_cast<unsigned>(std::countr_zero(lost)), 1, kUnwritten);
    }
}

} // namespace kcheck::runtime
