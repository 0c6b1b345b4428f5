#include "instrument/pass/wording/wording.h"

#include "instrument/pass/wording/parts.h"

#include <fmt/format.h>

namespace kcheck::instrument {

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

/// Assertions, assumptions and annotations.
static void wordAssertion(Finding& finding, const wire::Finding& record, const std::string& text) {
  if (record.numbers[1] == 2) {
    finding.message = fmt::format("the annotation does not hold: {}", text);
    finding.hint = "proofs rest on it: correct it, or what the kernel is given";
  } else if (record.numbers[1]) {
    finding.message = fmt::format("the assumption `{}` does not hold in {}", text, threadOf(record));
    finding.hint = "a compiler may leave out whatever is done otherwise: take it out, or make it true";
  } else {
    finding.message = fmt::format("the assertion `{}` fails in {}", text, threadOf(record));
  }
}

void word(Finding& finding, const wire::Finding& record, const std::string& text,
          const std::array<std::string, 2>& names) {
  std::uint64_t bytes = record.memory.bytes;
  switch (record.rule) {
  case wire::Rule::RaceShared:
  case wire::Rule::RaceGlobal:
  case wire::Rule::RaceWarp: return wordRace(finding, record);
  case wire::Rule::RaceScope: return wordScope(finding, record);
  case wire::Rule::RaceHost:
    if (text == "frees" || text == "frees at once")
      return wordFree(finding, record, names[1], text == "frees at once");
    if (text == "allocates") return wordAllocation(finding, record);
    if (text == "prints") return wordPrints(finding);
    if (!text.empty()) break;
    return wordHost(finding, record, names);
  case wire::Rule::BarrierDivergence: return wordBarrier(finding, record, text);
  case wire::Rule::WarpMask: return wordMask(finding, record, text);
  case wire::Rule::Hang: return wordHang(finding, record, text);
  case wire::Rule::OutOfBounds:
    if (!text.empty()) break;
    return wordBounds(finding, record);
  case wire::Rule::UseAfterFree:
    if (text == "unordered") return wordUseBesideFree(finding, record);
    if (!text.empty()) break;
    finding.message = fmt::format("{} of {} in {} after it was freed", verb(record), counted(bytes, "byte"),
                                  nameOnly(finding));
    return;
  case wire::Rule::Misaligned:
    finding.message = fmt::format("{} of {} at an address that is no multiple of {}", verb(record),
                                  counted(bytes, "byte"), bytes);
    return;
  case wire::Rule::UninitializedRead: return wordUninitialized(finding, record);
  case wire::Rule::UnwrittenOutput:
    if (!text.empty()) break;
    return wordUnwritten(finding, record);
  case wire::Rule::Leak:
    finding.message = fmt::format("{} allocated here {} never freed", counted(record.numbers[0], "byte"),
                                  record.numbers[0] == 1 ? "is" : "are");
    return;
  case wire::Rule::RedundantTransfer:
    finding.message =
        record.numbers[0] == 1
            ? "1 byte goes back to the device as it came from there, which still holds it"
            : fmt::format("{} bytes go back to the device as they came from there, which still holds them",
                          record.numbers[0]);
    finding.hint = "leave out both copies, or copy on the device (cudaMemcpyDeviceToDevice)";
    return;
  case wire::Rule::WrongSpace: return wordSpace(finding, record, text);
  case wire::Rule::AssertFailed: return wordAssertion(finding, record, text);
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
