// What the host does while the device has not finished.
#include "instrument/pass/wording/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace kcheck::instrument {

/// Work of the device that no kernel of the program is.
static std::string hostWork(const std::string& library, const char* otherwise) {
  return library.empty() ? otherwise : "a call of " + library;
}

void wordFree(Finding& finding, const wire::Finding& record, const std::string& library, bool isAtOnce) {
  const std::string user =
      record.access[1].doing == wire::Doing::Host ? hostWork(library, "a copy or fill") : "a kernel";
  finding.message =
      isAtOnce
          ? fmt::format("cudaFree frees {} while {} may still use it: of memory that a stream has allocated, "
                        "it waits for nothing",
                        subject(finding), user)
          : fmt::format("cudaFreeAsync frees {} in one stream while {} in another may still use it",
                        subject(finding), user);
  for (Access& access : finding.accesses)
    if (record.access[1].doing != wire::Doing::Host && access.by != "a kernel")
      access.by = isAtOnce ? kByFreeAtOnce : kByFree;
  finding.hint =
      isAtOnce ? "cudaFreeAsync in the stream that used it last, or wait for that stream before"
               : "free it in the stream that used it last, or let that stream's event be waited for before";
}

void wordAllocation(Finding& finding, const wire::Finding& record) {
  finding.message = fmt::format(
      "{} uses {} in one stream, and nothing orders that behind the cudaMallocAsync in another",
      record.access[0].doing == wire::Doing::Host ? "a copy or fill" : "a kernel", subject(finding));
  finding.hint =
      "allocate it in the stream that uses it, or let that stream wait for an event behind the allocation";
}

/// Of a kernel that the program does not wait for before it ends.
void wordPrints(Finding& finding) {
  finding.severity = Severity::Warning;
  finding.scope = RaceScope::Host;
  finding.message =
      "the program ends without waiting for this kernel: what it prints does not appear on a GPU";
  finding.hint = "cudaDeviceSynchronize() before the program ends";
}

void wordHost(Finding& finding, const wire::Finding& record, const std::array<std::string, 2>& names) {
  const wire::Access &mine = record.access[0], &theirs = record.access[1];
  auto does = [](bool writes) { return writes ? "writes" : "reads"; };
  bool mineWrites = mine.doing == wire::Doing::Host ? mine.unused : mine.doing != wire::Doing::Read;
  bool theirsWrite = theirs.doing == wire::Doing::Host ? theirs.unused : theirs.doing != wire::Doing::Read;
  if (record.flags & wire::NoWait) {
    finding.message = fmt::format(
        "the host {} {} while {} that it has not waited for may still {}", does(mineWrites), subject(finding),
        theirs.doing == wire::Doing::Host ? hostWork(names[1], "a copy") : "a kernel",
        theirsWrite ? "write it" : "read it");
    finding.hint =
        record.flags & wire::NarrowFence
            ? "__threadfence_system() in the kernel, between this and the word by which it tells the "
              "host; or cudaDeviceSynchronize() before the host's access"
            : "cudaDeviceSynchronize(), or wait for the stream or event, before the host's access";
    return;
  }
  const auto own = std::ranges::find_if(finding.accesses, [](const Access& a) { return a.by.empty(); });
  const bool isNamed = own != finding.accesses.end() && !own->expr.empty();
  const std::string who = !names[0].empty()                 ? names[0]
                          : mine.doing == wire::Doing::Host ? "a copy or fill by the host"
                                                            : "the kernel";
  const std::string other = theirs.doing == wire::Doing::Host ? hostWork(names[1], "a copy or fill")
                            : names[1].empty()                ? "a kernel"
                                                              : names[1];
  const bool branches = record.flags & wire::Branches;
  finding.message = fmt::format("{} {} {} that {} in another {} still {}", who, does(mineWrites),
                                isNamed ? quoted(own->expr) : subject(finding), other,
                                branches ? "branch of the graph" : "stream", does(theirsWrite));
  finding.hint = branches ? "let one node depend on the other; while a stream is captured, an event does that"
                          : "an event between the streams, or wait for the first stream before";
}

} // namespace kcheck::instrument
