// What copies and fills of the host do to the shadow, and the races between them and kernels of other
// streams.
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/memory.h"
#include "instrument/runtime/core/shadow.h"
#include "instrument/runtime/core/stream_memory.h"

#include <algorithm>

namespace kcheck::runtime {
namespace {

/// The part of a range that is device memory at all.
struct Range {
  Address begin, end;
  Range(const void* pointer, std::size_t bytes)
      : begin(reinterpret_cast<Address>(pointer)), end(begin + bytes) {
    const Allocation* owner = bytes ? find(pointer) : nullptr;
    Address base = owner ? reinterpret_cast<Address>(owner->base) : 0;
    if (!owner || !owner->live || begin < base || begin >= base + owner->bytes)
      end = begin;
    else
      end = std::min(end, base + owner->bytes);
  }
};

Token operationToken(std::uint64_t stream, void* caller, const char* library = nullptr) {
  Context& all = context();
  if (const Operation* same = all.streams.continued(stream, caller)) return same->token;
  return all.streams.begin(stream, all.epochs.takeOperation(), nullptr, caller, library).token;
}

/// What the host does to a range.
enum class Use { Read, Write, Free, FreeAtOnce }; ///< at once: behind what the host has waited for

/// The place in host code, and the library's function if it is one.
struct Doer {
  void* caller;
  const char* library = nullptr;
};

void reportRace(Address at, Token token, std::uint16_t site, bool earlierWrites, Use use, const Doer& by) {
  const Operation* other = context().streams.operationOf(token);
  wire::Finding finding = emptyFinding(wire::Rule::RaceHost);
  finding.nearness = wire::Nearness::Host;
  finding.accessCount = 2;
  finding.access[0].doing = wire::Doing::Host;
  finding.access[0].unused = use != Use::Read;
  if (use == Use::Free) finding.text = text("frees");
  if (use == Use::FreeAtOnce) finding.text = text("frees at once");
  finding.access[0].caller = finding.caller = reinterpret_cast<std::uint64_t>(by.caller);
  finding.access[0].library = text(by.library);
  wire::Access& theirs = finding.access[1];
  bool kernel = other && other->kernel;
  theirs.doing = !kernel ? wire::Doing::Host : earlierWrites ? wire::Doing::Write : wire::Doing::Read;
  theirs.unused = earlierWrites;
  theirs.site = kernel && site != kWideSite ? site : wire::kNoSite;
  if (kernel) finding.kernel = text(other->kernel->displayName);
  theirs.library = other ? text(other->library) : 0;
  theirs.caller = other ? reinterpret_cast<std::uint64_t>(other->caller) : 0;
  if (context().streams.bothInBranches(other)) finding.flags |= wire::Branches;
  describeMemory(finding.memory, reinterpret_cast<void*>(at), 1);
  report(finding);
}

/// Checks one word or byte; true when nothing was wrong.
bool checkCell(const Cell& cell, const CellSites& sites, Address at, Use use, const Doer& by) {
  const Streams& streams = context().streams;
  auto isBefore = [&](Token token) {
    const bool isOrdered = use == Use::FreeAtOnce ? streams.beforeHost(token) : streams.before(token);
    return isOrdered || context().hostKnows.knows(token);
  };
  if (!isReserved(cell.write) && cell.write >= streams.floor() && !isBefore(cell.write)) {
    reportRace(at, cell.write, sites.write, true, use, by);
    return false;
  }
  if (use != Use::Read && cell.read >= streams.floor() && cell.read < kReadSet && !isBefore(cell.read)) {
    reportRace(at, cell.read, sites.read, false, use, by);
    return false;
  }
  return true;
}

/// Nothing in a closed line can be in a race with the host: its words are as old as the first one.
bool isSettled(const Line& line, Token floor) {
  return (line.write < floor || isReserved(line.write)) && line.read < floor;
}

void checkRange(const Range& range, Use use, const Doer& by) {
  if (!context().options.races) return;
  Token floor = context().streams.floor();
  for (Address at = range.begin; at < range.end; at = (at | 3) + 1) {
    if (const Line& line = lineOf(at); line.closed && isSettled(line, floor)) {
      at |= kLineBytes - 1;
      continue;
    }
    const Cell& cell = cellOf(at);
    if (cell.write == kBytes) {
      for (Address byte = at; byte < std::min((at | 3) + 1, range.end); ++byte)
        if (!checkCell(byteCells(cell).cell[byte & 3], byteCells(cell).sites[byte & 3], byte, use, by))
          return;
    } else if (((cell.write >= floor && !isReserved(cell.write)) || cell.read >= floor) &&
               !checkCell(cell, sitesOf(at), at, use, by)) {
      return; // one report per operation
    }
  }
}

/// A copy or fill of memory that another stream need not have allocated yet.
void checkAllocated(const Range& range, bool writes, const Doer& by) {
  const Allocation* array = find(reinterpret_cast<void*>(range.begin));
  if (!array || comesAfterItsAllocation(*array) || !context().options.races) return;
  wire::Access use{};
  use.site = wire::kNoSite;
  use.doing = wire::Doing::Host;
  use.unused = writes;
  use.caller = reinterpret_cast<std::uint64_t>(by.caller);
  use.library = text(by.library);
  reportBeforeAllocation(range.begin, use, nullptr);
}

} // namespace

void noteAllocatedInStream(void* pointer, std::uint64_t stream, void* caller) {
  Context& all = context();
  Allocation* array = all.allocations.nearest(reinterpret_cast<Address>(pointer));
  if (!array || array->base != pointer) return;
  const Operation& operation = all.streams.begin(stream, all.epochs.takeOperation(), nullptr, caller);
  array->stream = operation.stream;
  array->sequence = operation.sequence;
}

void markWrittenByHost(void* pointer, std::size_t bytes, std::uint64_t stream, void* caller,
                       const char* library) {
  Range range(pointer, bytes);
  if (range.begin == range.end) return;
  Token token = operationToken(stream, caller, library);
  checkRange(range, Use::Write, {caller, library});
  checkAllocated(range, true, {caller, library});
  context().allocations.materialise(range.begin);
  context().allocations.materialise(range.end - 1);
  fillShadow(range.begin, range.end - range.begin, token);
}

void checkFreedByHost(void* pointer, std::size_t bytes, std::uint64_t stream, void* caller) {
  Range range(pointer, bytes);
  if (range.begin == range.end) return;
  operationToken(stream, caller);
  checkRange(range, Use::Free, {caller});
}

void checkFreedAtOnce(void* pointer, void* caller) {
  const Allocation* array = find(pointer);
  if (!array || !array->live || !array->sequence) return;
  checkRange(Range(array->base, array->bytes), Use::FreeAtOnce, {caller});
}

void markReadByHost(const void* pointer, std::size_t bytes, std::uint64_t stream, void* caller,
                    const char* library) {
  Range range(pointer, bytes);
  if (range.begin == range.end) return;
  Token token = operationToken(stream, caller, library);
  checkRange(range, Use::Read, {caller, library});
  checkAllocated(range, false, {caller, library});
  for (Address at = range.begin; at < range.end; at = (at | 3) + 1) {
    if (Line& line = lineOf(at); line.closed && at % kLineBytes == 0 && at + kLineBytes <= range.end) {
      line.read = token;
      line.readShift = kAllSame;
      at |= kLineBytes - 1;
      continue;
    }
    Cell& cell = cellOf(at);
    if (cell.write == kUnknown) context().allocations.materialise(at);
    if (cell.write == kBytes) {
      for (Address byte = at; byte < std::min((at | 3) + 1, range.end); ++byte)
        byteCells(cell).cell[byte & 3].read = token;
    } else if (cell.write != kUnknown) {
      cell.read = token;
    }
  }
}

void copyShadow(void* to, const void* from, std::size_t bytes, std::uint64_t stream, void* caller) {
  Range source(from, bytes), target(to, bytes);
  if (target.begin == target.end) return;
  markReadByHost(from, bytes, stream, caller);
  markWrittenByHost(to, bytes, stream, caller);
  // What nobody has written stays so in the copy.
  std::size_t known = std::min(source.end - source.begin, target.end - target.begin);
  for (std::size_t at = 0; at < known;) {
    std::size_t unwritten = at + firstUnwritten(reinterpret_cast<void*>(source.begin + at), known - at);
    if (unwritten >= known) return;
    std::size_t end = unwritten;
    while (end < known && firstUnwritten(reinterpret_cast<void*>(source.begin + end), 1) == 0) ++end;
    if (Allocation* array = context().allocations.nearest(target.begin)) array->writtenFrom = 0;
    fillShadow(target.begin + unwritten, end - unwritten, kUnwritten);
    at = end;
  }
}

} // namespace kcheck::runtime
