// Accesses of memory that is not there, not of that kind, or has no value.
#include "instrument/pass/wording/parts.h"

#include <fmt/format.h>

namespace kcheck::instrument {
namespace {

std::string distance(const MemoryFact& memory) {
  if (!memory.offset || !memory.size) return "";
  std::int64_t offset = *memory.offset;
  auto size = static_cast<std::int64_t>(*memory.size);
  if (offset < 0)
    return fmt::format("{} before the start of", counted(static_cast<std::uint64_t>(-offset), "byte"));
  if (offset >= size)
    return offset == size ? "right behind the end of"
                          : fmt::format("{} past the end of",
                                        counted(static_cast<std::uint64_t>(offset - size), "byte"));
  return "across the end of";
}

/// With the size, where no other line of the report gives it.
std::string memoryName(const Finding& finding) {
  std::string name = nameOnly(finding);
  bool known = finding.memory && finding.memory->size;
  return known ? fmt::format("{} ({})", name, counted(*finding.memory->size, "byte")) : name;
}

} // namespace

void wordBounds(Finding& finding, const wire::Finding& record) {
  std::uint64_t bytes = record.memory.bytes;
  if (record.memory.flags & wire::IsNull) {
    finding.message = fmt::format("{} of {} through a null pointer", verb(record), counted(bytes, "byte"));
    return;
  }
  if (!finding.memory || !finding.memory->offset) {
    finding.message = fmt::format("{} of {} at address 0x{:x}, where nothing is allocated", verb(record),
                                  counted(bytes, "byte"), record.memory.address);
    return;
  }
  finding.message = fmt::format("{} of {} {} {}", verb(record), counted(bytes, "byte"),
                                distance(*finding.memory), nameOnly(finding));
}

void wordUninitialized(Finding& finding, const wire::Finding& record) {
  if (finding.memory && finding.memory->space == MemorySpace::Local) {
    finding.message =
        fmt::format("read of the local variable {}, which has no value here", quoted(finding.memory->name));
    finding.hint = "give it a value where it is declared, or on every way that leads here";
    return;
  }
  const auto weight = static_cast<wire::UnwrittenRead>(record.numbers[0]);
  if (weight == wire::UnwrittenRead::ComesFirst) {
    finding.message = fmt::format("threads wait for {}, which has no value before the first store in this "
                                  "kernel: a thread that comes before that store reads whatever lies there",
                                  subject(finding));
    finding.hint = finding.memory && finding.memory->space == MemorySpace::Shared
                       ? "let one thread set it first, and then a barrier"
                       : "set it before the launch: cudaMemset";
    return;
  }
  if (weight != wire::UnwrittenRead::Counts) finding.severity = Severity::Warning;
  if (weight == wire::UnwrittenRead::CopiedInPart) {
    finding.message = fmt::format("{} is copied, and nobody has written all of it", subject(finding));
    finding.hint = "harmless where that is padding between members; else give it a value";
    return;
  }
  finding.message = fmt::format("read of {}, which nobody has written", subject(finding));
  if (weight == wire::UnwrittenRead::MayBeDropped) {
    finding.message += "; on some ways through the kernel nothing depends on it";
    finding.hint = "read it behind the condition that decides whether it is used";
    return;
  }
  if (finding.memory && finding.memory->space == MemorySpace::Global)
    finding.hint = "cudaMemset or a copy before the launch";
  else if (finding.memory && finding.memory->space == MemorySpace::Shared)
    finding.hint = "let the block write all of the array first, in a loop, and then a barrier";
}

/// In the run the use came first.
void wordUseBesideFree(Finding& finding, const wire::Finding& record) {
  finding.message = fmt::format("{} of {}, which another thread frees, and nothing orders the two",
                                verb(record), subject(finding));
  finding.hint =
      "free it behind a barrier that all who use it have passed, or where the last of them is known";
}

/// How much of a copy to the host was never written: all, the end of it, or pieces.
void wordUnwritten(Finding& finding, const wire::Finding& record) {
  const std::uint64_t first = record.numbers[0], bytes = record.numbers[1], missing = record.memory.bytes;
  const auto offset = finding.memory ? finding.memory->offset.value_or(0) : std::int64_t(first);
  std::string which =
      missing == bytes ? fmt::format("any of them, in {}", memoryName(finding))
      : first + missing == bytes
          ? fmt::format("the last {} of them, from byte {} of {} on", missing, offset, memoryName(finding))
          : fmt::format("{} of them, the first at byte {} of {}", missing, offset, memoryName(finding));
  finding.message =
      fmt::format("{} copied to the host, but nobody has written {}", counted(bytes, "byte"), which);
  if (missing < bytes && first + missing == bytes)
    finding.hint = "a grid that covers the array: (n + block - 1) / block blocks, and a guard in the kernel";
}

static void wordOthersLocal(Finding& finding, const wire::Finding& record, bool hasEnded) {
  const std::string whose = hasEnded ? "of a thread that has ended" : "of another thread";
  const std::string name = record.memory.name && finding.memory ? " " + quoted(finding.memory->name) : "";
  finding.message = fmt::format("{} of {} through a pointer to the local variable{} {}", verb(record),
                                counted(record.memory.bytes, "byte"), name, whose);
  finding.hint =
      "a local variable's address leads each thread to its own: hand the value on, or put it in shared or "
      "global memory";
}

/// Of a kernel's access and, with a text of its own, of a call.
void wordSpace(Finding& finding, const wire::Finding& record, const std::string& text) {
  if (text == "local" || text == "ended") return wordOthersLocal(finding, record, text == "ended");
  const bool isKernels = text.empty();
  finding.message = isKernels ? fmt::format("{} of {} through a pointer to host memory", verb(record),
                                            counted(record.memory.bytes, "byte"))
                              : text;
  if (record.memory.flags & wire::HostCopy)
    finding.hint =
        fmt::format("in host code {} is the host's own copy of the variable: {}", nameOnly(finding),
                    isKernels ? "pass the address that cudaGetSymbolAddress gives, or use the "
                                "variable in the kernel by its name"
                              : "cudaMemcpyToSymbol or cudaMemcpyFromSymbol, or the address that "
                                "cudaGetSymbolAddress gives");
  else if (isKernels)
    finding.hint = "copy the data to device memory, or allocate it with cudaMallocManaged or cudaHostAlloc";
}

} // namespace kcheck::instrument
