#include "instrument/pass/wording/parts.h"

#include <fmt/format.h>

namespace kcheck::instrument {

std::string quoted(const std::string& text) { return text.empty() ? "memory" : "`" + text + "`"; }

std::string subject(const Finding& finding) {
  for (const Access& access : finding.accesses)
    if (!access.expr.empty()) return quoted(access.expr);
  return finding.memory && !finding.memory->name.empty() ? quoted(finding.memory->name) : "memory";
}

const char* verb(const wire::Finding& record) {
  switch (record.access[0].doing) {
  case wire::Doing::Write: return "write";
  case wire::Doing::Atomic: return "atomic";
  default: return "read";
  }
}

std::string threadOf(const wire::Finding& record) {
  const wire::Access& access = record.access[0];
  if (!record.accessCount || !(access.flags & wire::HasThread)) return "a thread";
  auto index = [](const std::uint32_t(&at)[3]) { return fmt::format("({},{},{})", at[0], at[1], at[2]); };
  return fmt::format("thread {} of block {}", index(access.thread), index(access.block));
}

std::string nameOnly(const Finding& finding) {
  if (!finding.memory) return "memory";
  const MemoryFact& memory = *finding.memory;
  const char* what = memory.space == MemorySpace::Shared  ? "the shared array"
                     : memory.space == MemorySpace::Local ? "the local array"
                                                          : "the array";
  return memory.name.empty() ? what : quoted(memory.name);
}

} // namespace kcheck::instrument
