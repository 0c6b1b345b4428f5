#include "instrument/pass/wording.h"

#include "report/atomic_operand.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <llvm/ADT/APFloat.h>

namespace kcheck::instrument {
namespace {

std::string quoted(const std::string& text) { return text.empty() ? "memory" : "`" + text + "`"; }

std::string subject(const Finding& finding) {
  for (const Access& access : finding.accesses)
    if (!access.expr.empty()) return quoted(access.expr);
  return finding.memory && !finding.memory->name.empty() ? quoted(finding.memory->name) : "memory";
}

std::string counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// What else may be missing where one statement races with itself.
const char* betweenRounds(const Finding& finding) {
  switch (finding.scope) {
  case RaceScope::IntraWarp: return "; between rounds of a loop, __syncwarp()";
  case RaceScope::InterWarp: return "; between rounds of a loop, __syncthreads()";
  default: return "";
  }
}

bool isLostUpdate(const Finding& finding) {
  if (finding.accesses.size() != 2) return false;
  const Access &a = finding.accesses[0], &b = finding.accesses[1];
  if (a.kind == b.kind || a.kind == AccessKind::Atomic || b.kind == AccessKind::Atomic || !a.where.known() ||
      a.where.file != b.where.file || a.where.line != b.where.line || a.expr != b.expr)
    return false;
  // What is read behind the statement that writes is another matter, on one line or not.
  const Location &write = a.kind == AccessKind::Write ? a.where : b.where,
                 &read = a.kind == AccessKind::Write ? b.where : a.where;
  return read.column <= write.column || !write.endColumn || read.column < write.endColumn;
}

bool wordLostUpdate(Finding& finding) {
  if (!isLostUpdate(finding)) return false;
  finding.message = fmt::format("threads update {} without ordering, so updates are lost", subject(finding));
  std::string expr = finding.accesses[0].expr;
  if (expr.empty()) return true;
  // `c += x` reads and writes at one place; `if (x < c) c = x` does not, and no sum mends it.
  const bool isOnePlace = finding.accesses[0].where.column == finding.accesses[1].where.column;
  std::string operation = "one atomic operation, such as ";
  if (!isOnePlace)
    operation += "atomicMin or atomicCAS(" + atomicOperand(expr) + ", ...)";
  else if (const std::string update = atomicUpdate(expr, finding.accesses[0].updates);
           update.starts_with("atomic"))
    operation += update;
  else
    operation = update;
  finding.hint = fmt::format("{}, or an element for each thread{}", operation, betweenRounds(finding));
  return true;
}

/// Several threads at one statement: no barrier comes between, but for the rounds of a loop.
bool isOneWrite(const Finding& finding) {
  if (finding.kind != RaceKind::WriteWrite || finding.accesses.size() != 2) return false;
  const Access &a = finding.accesses[0], &b = finding.accesses[1];
  return a.where.known() && a.where == b.where && a.expr == b.expr;
}

std::string whatHappens(const Finding& finding) {
  bool atomic = finding.kind == RaceKind::AtomicPlain;
  if (finding.kind == RaceKind::WriteWrite)
    return finding.sameValue ? fmt::format("several threads write the same value to {}", subject(finding))
                             : fmt::format("several threads write {}", subject(finding));
  if (atomic) return fmt::format("{} is accessed both atomically and plainly", subject(finding));
  return fmt::format("a thread writes {} while another reads it", subject(finding));
}

/// Two atomics that no wider scope would mend.
bool differInSize(const wire::Finding& record) {
  return record.accessCount == 2 && record.access[0].doing == wire::Doing::Atomic &&
         record.access[1].doing == wire::Doing::Atomic;
}

void wordRace(Finding& finding, const wire::Finding& record) {
  bool warp = finding.scope == RaceScope::IntraWarp, block = finding.scope == RaceScope::InterWarp;
  if (!(record.flags & wire::AsyncCopy) && wordLostUpdate(finding)) return;
  if (record.flags & wire::AsyncCopy) {
    bool isSource = record.access[1].doing == wire::Doing::Read;
    finding.message =
        isSource
            ? fmt::format("{} is overwritten while an asynchronous copy may still read it", subject(finding))
            : fmt::format("{} is used while an asynchronous copy may still write it", subject(finding));
    finding.hint =
        "the thread that started the copy waits for it (__pipeline_wait_prior(0), cp.async.wait_group or a "
        "cuda::barrier), then __syncthreads() for the others";
    return;
  }
  if (differInSize(record)) {
    finding.message = fmt::format("atomics of different sizes meet on {}, and need not see each other whole",
                                  subject(finding));
    finding.hint = "atomics of one size for all that can happen at the same time";
    return;
  }
  const char* missing = warp    ? "with no __syncwarp between them"
                        : block ? "with no barrier between them"
                                : "with nothing that orders the blocks";
  finding.message = fmt::format("{}, {}", whatHappens(finding), missing);
  if (isOneWrite(finding))
    finding.hint = fmt::format("let one thread write it, or give each thread an element of its own{}",
                               betweenRounds(finding));
  else if (warp)
    finding.hint = "__syncwarp() between the two accesses: lanes of a warp do not run in step";
  else if (block)
    finding.hint = "both threads are in the same block: __syncthreads() between the two accesses";
  else if (finding.kind == RaceKind::AtomicPlain)
    finding.hint = "make both accesses atomic, or order them by a second launch or a fence and a flag";
  else
    finding.hint =
        "blocks of a launch are ordered by atomics with fences, a grid barrier or a second launch only";
}

void wordScope(Finding& finding, const wire::Finding& record) {
  if (record.flags & wire::NarrowFence) {
    finding.message =
        fmt::format("a fence or atomic of block scope does not order threads of different blocks, "
                    "which share {}",
                    subject(finding));
    finding.hint = "__threadfence() instead of __threadfence_block(), and atomics of device scope";
    return;
  }
  finding.message = fmt::format("atomics of block scope update {}, which threads of several blocks share",
                                subject(finding));
  finding.hint = "an atomic of device scope: without `_block`, cuda::thread_scope_device, or .gpu in PTX";
}

/// Work of the device that no kernel of the program is.
std::string hostWork(const std::string& library, const char* otherwise) {
  return library.empty() ? otherwise : "a call of " + library;
}

void wordFree(Finding& finding, const wire::Finding& record, const std::string& library) {
  finding.message = fmt::format(
      "cudaFreeAsync frees {} in one stream while {} in another may still use it", subject(finding),
      record.access[1].doing == wire::Doing::Host ? hostWork(library, "a copy or fill") : "a kernel");
  for (Access& access : finding.accesses)
    if (record.access[1].doing != wire::Doing::Host && access.by != "a kernel") access.by = kByFree;
  finding.hint = "free it in the stream that used it last, or let that stream's event be waited for before";
}

/// Of a kernel that the program does not wait for before it ends.
void wordPrints(Finding& finding) {
  finding.severity = Severity::Warning;
  finding.scope = RaceScope::Host;
  finding.message =
      "the program ends without waiting for this kernel: what it prints does not appear on a GPU";
  finding.hint = "cudaDeviceSynchronize() before the program ends";
}

void wordHost(Finding& finding, const wire::Finding& record, const std::array<std::string, 2>& libraries) {
  const wire::Access &mine = record.access[0], &theirs = record.access[1];
  auto does = [](bool writes) { return writes ? "writes" : "reads"; };
  bool mineWrites = mine.doing == wire::Doing::Host ? mine.unused : mine.doing != wire::Doing::Read;
  bool theirsWrite = theirs.doing == wire::Doing::Host ? theirs.unused : theirs.doing != wire::Doing::Read;
  if (record.flags & wire::NoWait) {
    finding.message = fmt::format(
        "the host {} {} while {} that it has not waited for may still {}", does(mineWrites), subject(finding),
        theirs.doing == wire::Doing::Host ? hostWork(libraries[1], "a copy") : "a kernel",
        theirsWrite ? "write it" : "read it");
    finding.hint = "cudaDeviceSynchronize(), or wait for the stream or event, before the host's access";
    return;
  }
  const std::string who = !libraries[0].empty()             ? libraries[0]
                          : mine.doing == wire::Doing::Host ? "a copy or fill by the host"
                                                            : "the kernel";
  const std::string other =
      theirs.doing == wire::Doing::Host ? hostWork(libraries[1], "a copy or fill") : "a kernel";
  const bool branches = record.flags & wire::Branches;
  finding.message =
      fmt::format("{} {} {} that {} in another {} still {}", who, does(mineWrites), subject(finding), other,
                  branches ? "branch of the graph" : "stream", does(theirsWrite));
  finding.hint = branches ? "let one node depend on the other; while a stream is captured, an event does that"
                          : "an event between the streams, or wait for the first stream before";
}

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

const char* verb(const wire::Finding& record) {
  switch (record.access[0].doing) {
  case wire::Doing::Write: return "write";
  case wire::Doing::Atomic: return "atomic";
  default: return "read";
  }
}

std::string nameOnly(const Finding& finding) {
  if (!finding.memory) return "memory";
  const MemoryFact& memory = *finding.memory;
  const char* what = memory.space == MemorySpace::Shared  ? "the shared array"
                     : memory.space == MemorySpace::Local ? "the local array"
                                                          : "the array";
  return memory.name.empty() ? what : quoted(memory.name);
}

/// With the size, where no other line of the report gives it.
std::string memoryName(const Finding& finding) {
  std::string name = nameOnly(finding);
  bool known = finding.memory && finding.memory->size;
  return known ? fmt::format("{} ({})", name, counted(*finding.memory->size, "byte")) : name;
}

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

std::string waitingGroup(const wire::Access& access) {
  if (access.doing == wire::Doing::Returned)
    return fmt::format("{} returned", access.count == 1 ? "1 has" : fmt::format("{} have", access.count));
  return fmt::format("{} elsewhere", access.count == 1 ? "1 waits" : fmt::format("{} wait", access.count));
}

void wordBarrier(Finding& finding, const wire::Finding& record, const std::string& text) {
  const wire::Access &waiting = record.access[0], &other = record.access[1];
  if (text == "uneven") {
    finding.message =
        fmt::format("barrier {} waits for {}, which is no multiple of 32: what it does is undefined",
                    record.numbers[1], counted(record.numbers[0], "thread"));
    finding.hint = "the count of a barrier is how many threads come to it, in whole warps";
    return;
  }
  if (text == "part") {
    finding.message = fmt::format("barrier {} waits for {}, of which {}", record.numbers[1],
                                  counted(record.numbers[0], "thread"),
                                  waiting.count == 1 ? "1 comes" : fmt::format("{} come", waiting.count));
    finding.hint = "the count of a barrier is how many threads come to it, in whole warps";
    return;
  }
  finding.message =
      fmt::format("{} of the block {} at this barrier while {}", counted(waiting.count, "thread"),
                  waiting.count == 1 ? "waits" : "wait", waitingGroup(other));
  finding.hint = other.doing == wire::Doing::Returned
                     ? "let every thread reach the barrier, and guard the work around it"
                     : "move the barrier to where every thread of the block passes";
}

void wordMask(Finding& finding, const wire::Finding& record, const std::string& text) {
  auto lane = record.numbers[1];
  if (text == "itself") {
    finding.message = fmt::format("lane {} calls a warp collective whose mask 0x{:08x} leaves it out", lane,
                                  record.numbers[0]);
    finding.hint = "the mask must name every lane that calls, the caller included";
    return;
  }
  bool returned = record.accessCount > 1 && record.access[1].doing == wire::Doing::Returned;
  const bool reduces = text == "reduces";
  if (reduces) finding.severity = Severity::Note;
  if (reduces || text == "reads")
    finding.message = fmt::format("a shuffle reads the value of lane {}, which {}{}", lane,
                                  returned ? "has returned" : "does not take part",
                                  reduces ? ": no harm where only the lower lanes use what they get" : "");
  else
    finding.message = fmt::format("the mask 0x{:08x} of a warp collective names lane {}, which {}",
                                  record.numbers[0], lane, returned ? "has returned" : "is not there");
  finding.hint = "name the lanes that are there: a mask from __ballot_sync() before the branch, or move the "
                 "collective out of the branch";
}

void wordHang(Finding& finding, const wire::Finding& record, const std::string& text) {
  const wire::Access& first = record.access[0];
  const bool changes = record.numbers[1]; // memory does: no thread is shown to wait for ever
  finding.message =
      fmt::format("{}: {} {}", changes ? "the kernel goes round without an end" : "no thread can go on",
                  counted(first.count, "thread"),
                  first.scope ? (first.count == 1 ? "polls here" : "poll here")
                              : (first.count == 1 ? "waits here" : "wait here"));
  if (text == "host")
    finding.hint =
        "where it waits for the host: kcheck runs a kernel to its end before the host goes on, and "
        "cannot check that";
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

std::string threadOf(const wire::Finding& record) {
  const wire::Access& access = record.access[0];
  if (!record.accessCount || !(access.flags & wire::HasThread)) return "a thread";
  auto index = [](const std::uint32_t(&at)[3]) { return fmt::format("({},{},{})", at[0], at[1], at[2]); };
  return fmt::format("thread {} of block {}", index(access.thread), index(access.block));
}

/// Of a kernel's access and, with a text of its own, of a call.
void wordSpace(Finding& finding, const wire::Finding& record, const std::string& text) {
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

} // namespace

const char* ruleId(wire::Rule rule) {
  switch (rule) {
  case wire::Rule::RaceShared: return "race-shared";
  case wire::Rule::RaceGlobal: return "race-global";
  case wire::Rule::RaceWarp: return "race-warp";
  case wire::Rule::RaceScope: return "race-scope";
  case wire::Rule::RaceHost: return "race-host";
  case wire::Rule::BarrierDivergence: return "barrier-divergence";
  case wire::Rule::WarpMask: return "warp-mask";
  case wire::Rule::Hang: return "hang";
  case wire::Rule::OutOfBounds: return "out-of-bounds";
  case wire::Rule::Misaligned: return "misaligned";
  case wire::Rule::UseAfterFree: return "use-after-free";
  case wire::Rule::BadFree: return "bad-free";
  case wire::Rule::WrongSpace: return "wrong-space";
  case wire::Rule::Leak: return "leak";
  case wire::Rule::InvalidLaunch: return "invalid-launch";
  case wire::Rule::UncheckedError: return "unchecked-error";
  case wire::Rule::UninitializedRead: return "uninitialized-read";
  case wire::Rule::UnwrittenOutput: return "unwritten-output";
  case wire::Rule::RedundantTransfer: return "redundant-transfer";
  case wire::Rule::AssertFailed: return "assert-failed";
  case wire::Rule::Trap: return "trap";
  case wire::Rule::Unsupported: return "unsupported";
  }
  return "?";
}

Severity severityOf(wire::Rule rule) {
  switch (rule) {
  case wire::Rule::Leak:
  case wire::Rule::UncheckedError:
  case wire::Rule::RedundantTransfer: return Severity::Warning;
  default: return Severity::Error;
  }
}

/// With a point, so that it is seen to be no integer.
template <class Real> static std::string decimal(Real value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

bool looksReal(std::uint64_t content, unsigned bytes) {
  if (bytes == 4) {
    auto integer = static_cast<std::int32_t>(content);
    float real = std::bit_cast<float>(static_cast<std::uint32_t>(content));
    bool small = integer > -(1 << 24) && integer < (1 << 24);
    return !small && std::isnormal(real) && std::fabs(real) > 1e-6f && std::fabs(real) < 1e7f;
  }
  if (bytes != 8) return false;
  auto integer = static_cast<std::int64_t>(content);
  double real = std::bit_cast<double>(content);
  bool small = integer > -(std::int64_t{1} << 48) && integer < (std::int64_t{1} << 48);
  return !small && std::isnormal(real) && std::fabs(real) > 1e-9 && std::fabs(real) < 1e15;
}

std::string valueText(std::uint64_t content, unsigned bytes, ValueType type) {
  const bool brain = type == ValueType::BrainFloat, real = brain || type == ValueType::Real;
  if (real && content == 0) return "0";
  if (bytes == 2 && real) {
    const llvm::fltSemantics& format = brain ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf();
    return decimal(llvm::APFloat(format, llvm::APInt(16, content & 0xFFFF)).convertToFloat());
  }
  if (bytes == 4 && real) return decimal(std::bit_cast<float>(static_cast<std::uint32_t>(content)));
  if (bytes == 8 && real) return decimal(std::bit_cast<double>(content));
  if (type == ValueType::Unsigned)
    return fmt::format("{}", bytes < 8 ? content & ((std::uint64_t{1} << 8 * bytes) - 1) : content);
  if (bytes == 4) return fmt::format("{}", static_cast<std::int32_t>(content));
  if (bytes == 8) return fmt::format("{}", static_cast<std::int64_t>(content));
  if (bytes == 1) return fmt::format("{}", static_cast<std::int8_t>(content));
  return fmt::format("{}", static_cast<std::int16_t>(content));
}

void word(Finding& finding, const wire::Finding& record, const std::string& text,
          const std::array<std::string, 2>& libraries) {
  std::uint64_t bytes = record.memory.bytes;
  switch (record.rule) {
  case wire::Rule::RaceShared:
  case wire::Rule::RaceGlobal:
  case wire::Rule::RaceWarp: return wordRace(finding, record);
  case wire::Rule::RaceScope: return wordScope(finding, record);
  case wire::Rule::RaceHost:
    if (text == "frees") return wordFree(finding, record, libraries[1]);
    if (text == "prints") return wordPrints(finding);
    if (!text.empty()) break;
    return wordHost(finding, record, libraries);
  case wire::Rule::BarrierDivergence: return wordBarrier(finding, record, text);
  case wire::Rule::WarpMask: return wordMask(finding, record, text);
  case wire::Rule::Hang: return wordHang(finding, record, text);
  case wire::Rule::OutOfBounds:
    if (!text.empty()) break;
    return wordBounds(finding, record);
  case wire::Rule::UseAfterFree:
    if (!text.empty()) break;
    finding.message = fmt::format("{} of {} in {} after it was freed", verb(record), counted(bytes, "byte"),
                                  nameOnly(finding));
    return;
  case wire::Rule::Misaligned:
    finding.message = fmt::format("{} of {} at an address that is no multiple of {}", verb(record),
                                  counted(bytes, "byte"), bytes);
    return;
  case wire::Rule::UninitializedRead:
    if (finding.memory && finding.memory->space == MemorySpace::Local) {
      finding.message =
          fmt::format("read of the local variable {}, which has no value here", quoted(finding.memory->name));
      finding.hint = "give it a value where it is declared, or on every way that leads here";
      return;
    }
    finding.message = fmt::format("read of {}, which nobody has written", subject(finding));
    if (finding.memory && finding.memory->space == MemorySpace::Global)
      finding.hint = "cudaMemset or a copy before the launch";
    else if (finding.memory && finding.memory->space == MemorySpace::Shared)
      finding.hint = "let the block write all of the array first, in a loop, and then a barrier";
    return;
  case wire::Rule::UnwrittenOutput:
    if (!text.empty()) break;
    return wordUnwritten(finding, record);
  case wire::Rule::Leak:
    finding.message = fmt::format("{} allocated here {} never freed", counted(record.numbers[0], "byte"),
                                  record.numbers[0] == 1 ? "is" : "are");
    return;
  case wire::Rule::RedundantTransfer:
    finding.message = fmt::format(
        "{} bytes go back to the device as they came from there, which still holds them", record.numbers[0]);
    finding.hint = "leave out both copies, or copy on the device (cudaMemcpyDeviceToDevice)";
    return;
  case wire::Rule::WrongSpace: return wordSpace(finding, record, text);
  case wire::Rule::AssertFailed:
    if (record.numbers[1] == 2) {
      finding.message = fmt::format("the annotation does not hold: {}", text);
      finding.hint = "proofs rest on it: correct it, or what the kernel is given";
    } else if (record.numbers[1]) {
      finding.message = fmt::format("the assumption `{}` does not hold in {}", text, threadOf(record));
      finding.hint = "a compiler may leave out whatever is done otherwise: take it out, or make it true";
    } else {
      finding.message = fmt::format("the assertion `{}` fails in {}", text, threadOf(record));
    }
    return;
  case wire::Rule::Trap: finding.message = fmt::format("{} {}", threadOf(record), text); return;
  case wire::Rule::Unsupported:
    finding.message = fmt::format("kcheck does not support {} yet", text);
    if (text.starts_with("call of")) finding.message += "; what stands in #ifndef __KCHECK__ is left out";
    return;
  default: break;
  }
  if (!text.empty()) finding.message = text;
}

} // namespace kcheck::instrument
