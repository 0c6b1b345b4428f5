// Barriers, warp collectives and kernels that do not end.
#include "instrument/pass/wording/parts.h"

#include <fmt/format.h>

namespace kcheck::instrument {

static std::string waitingGroup(const wire::Access& access) {
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
  if (record.nearness == wire::Nearness::Grid) {
    finding.message =
        fmt::format("{} {} for the whole grid at this barrier while {} of other blocks {} returned",
                    counted(waiting.count, "thread"), waiting.count == 1 ? "waits" : "wait", other.count,
                    other.count == 1 ? "has" : "have");
    finding.hint = "let every block come to each barrier of the grid, and guard the work around it";
    return;
  }
  if (text == "numbers" && record.numbers[0] != record.numbers[1]) {
    finding.message = fmt::format(
        "{} of the block {} at barrier {} while {} at barrier {}", counted(waiting.count, "thread"),
        waiting.count == 1 ? "waits" : "wait", record.numbers[0],
        other.count == 1 ? "1 waits" : fmt::format("{} wait", other.count), record.numbers[1]);
    finding.hint = "let all threads that a barrier counts come to the one of the same number";
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
  finding.hint = "name the lanes that are there: a mask from __ballot_sync() before the branch, or move the "
                 "collective out of the branch";
  if (text == "reads" && !returned && lane < 32 && !(record.numbers[0] >> lane & 1)) {
    finding.message = fmt::format("a shuffle reads the value of lane {}, which its mask 0x{:08x} leaves out",
                                  lane, record.numbers[0]);
    finding.hint = "the mask must name every lane that takes part, those too whose value is read";
    return;
  }
  if (reduces || text == "reads")
    finding.message = fmt::format("a shuffle reads the value of lane {}, which {}{}", lane,
                                  returned ? "has returned" : "does not take part",
                                  reduces ? ": no harm where only the lower lanes use what they get" : "");
  else
    finding.message = fmt::format("the mask 0x{:08x} of a warp collective names lane {}, which {}",
                                  record.numbers[0], lane, returned ? "has returned" : "is not there");
}

void wordHang(Finding& finding, const wire::Finding& record, const std::string& text) {
  const wire::Access& first = record.access[0];
  const bool countsArrivals = text == "arrivals";
  const bool changes =
      !countsArrivals && record.numbers[0]; // memory does: no thread is shown to wait for ever
  finding.message =
      fmt::format("{}: {} {}", changes ? "the kernel goes round without an end" : "no thread can go on",
                  counted(first.count, "thread"),
                  first.scope ? (first.count == 1 ? "polls here" : "poll here")
                              : (first.count == 1 ? "waits here" : "wait here"));
  if (record.flags & wire::Rehearsed) {
    finding.message += ", in another order of the threads than the one that the run takes first";
    finding.hint = "take several locks in one order in all threads, and wait for none while holding another; "
                   "--schedule=lockstep runs that order alone";
  }
  if (countsArrivals) {
    finding.message += fmt::format(", for a barrier that still misses {} of its {}", record.numbers[1],
                                   counted(record.numbers[0], "arrival"));
    finding.hint =
        "let as many threads arrive in each phase as the barrier was initialised with, or initialise it with "
        "as many as do";
  }
  if (text == "host")
    finding.hint =
        "where it waits for the host: the host must do its part before it waits for the kernel, or for work "
        "behind it";
}

} // namespace kcheck::instrument
