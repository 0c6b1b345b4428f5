// Races between threads.
#include "instrument/pass/wording/parts.h"

#include "report/atomic_operand.h"
#include "report/hints.h"

#include <fmt/format.h>

#include <algorithm>

namespace kcheck::instrument {
namespace {

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

/// Whether it is read in a statement before, as in `if (x < c) c = x`, as against `c += x` and `c = c + x`.
bool isTestedBefore(const Access& a, const Access& b) {
  const bool isFirst = a.kind == AccessKind::Write;
  const Location &write = isFirst ? a.where : b.where, &read = isFirst ? b.where : a.where;
  return read.column < write.column;
}

bool wordLostUpdate(Finding& finding) {
  if (!isLostUpdate(finding)) return false;
  const bool isTested = isTestedBefore(finding.accesses[0], finding.accesses[1]);
  finding.message =
      isTested
          ? fmt::format(
                "threads read {} and then write it, without ordering: another one may write it in between",
                subject(finding))
          : fmt::format("threads update {} without ordering, so updates are lost", subject(finding));
  std::string expr = finding.accesses[0].expr;
  if (expr.empty()) return true;
  // `c += x` reads and writes at one place; no sum mends `if (x < c) c = x`, nor `c = max(c, x)`.
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

/// A lock or flag lies between the accesses, and lacks its fences: they are the repair, and no barrier is.
bool wordHandOver(Finding& finding, const wire::Finding& record) {
  if (record.handOver == wire::HandOver::None || record.flags & wire::AsyncCopy || differInSize(record))
    return false;
  const bool fenced = record.handOver == wire::HandOver::Fenced;
  finding.message =
      fmt::format("{}, and the lock or flag between them {}", whatHappens(finding),
                  fenced ? "orders nothing without a fence behind the wait" : "does not order the two");
  finding.hint =
      fenced
          ? "__threadfence() between the loop that waits for the lock or flag and this access, or a wait by "
            "cuda::atomic with memory_order_acquire"
          : "__threadfence() between the earlier access and the store that gives the lock or flag on, and "
            "behind the loop that waits for it; or cuda::atomic with memory_order_release and "
            "memory_order_acquire. What comes behind that store is not ordered";
  return true;
}

} // namespace

/// The read may return an old value even where a barrier stands between.
static void wordOldRead(Finding& finding) {
  const auto read = std::ranges::find(finding.accesses, AccessKind::Read, &Access::kind);
  const std::string what =
      read != finding.accesses.end() && !read->expr.empty() ? quoted(read->expr) : subject(finding);
  finding.message = fmt::format("{} is read through the read-only cache, and the same kernel has written it: "
                                "the read may return an old value",
                                what);
  finding.hint =
      "a plain load: __ldg, ld.global.nc and const __restrict__ pointers are for memory that nobody "
      "writes as long as the kernel runs";
}

void wordRace(Finding& finding, const wire::Finding& record) {
  if (record.readOnlyCache) return wordOldRead(finding);
  bool warp = finding.scope == RaceScope::IntraWarp, block = finding.scope == RaceScope::InterWarp;
  if (wordHandOver(finding, record)) return;
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
    finding.hint = kOrderOfBlocks;
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
  const bool readsNarrowly = std::ranges::none_of(record.access, [](const wire::Access& access) {
    return access.scope == 1 && !(access.flags & wire::LoadsOnly);
  });
  finding.message =
      readsNarrowly ? fmt::format("an atomic of block scope reads {}, which threads of other blocks update",
                                  subject(finding))
                    : fmt::format("atomics of block scope update {}, which threads of several blocks share",
                                  subject(finding));
  finding.hint = "an atomic of device scope: without `_block`, cuda::thread_scope_device, or .gpu in PTX";
}

} // namespace kcheck::instrument
