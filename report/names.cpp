// The words that text and JSON use for the enumerations of the plain records.
#include "report/report.h"

namespace kcheck {

const char* toString(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read: return "read";
  case AccessKind::Write: return "write";
  case AccessKind::Atomic: return "atomic";
  }
  return "?";
}

std::string toString(const Extent& extent) {
  auto axis = [](const std::optional<std::uint32_t>& known) { return known ? std::to_string(*known) : "*"; };
  const std::string x = axis(extent.x), y = axis(extent.y), z = axis(extent.z);
  if (extent.unknown()) return "*";
  if (extent.z != 1U) return "(" + x + "," + y + "," + z + ")";
  return extent.y != 1U ? "(" + x + "," + y + ")" : x;
}

const char* toString(MemorySpace space) {
  switch (space) {
  case MemorySpace::Generic: return "generic";
  case MemorySpace::Global: return "global";
  case MemorySpace::Shared: return "shared";
  case MemorySpace::Local: return "local";
  case MemorySpace::Constant: return "constant";
  }
  return "?";
}

const char* toString(LaunchOrigin origin) {
  switch (origin) {
  case LaunchOrigin::LaunchSite: return "launch-site";
  case LaunchOrigin::Option: return "option";
  case LaunchOrigin::Annotation: return "annotation";
  case LaunchOrigin::Symbolic: return "symbolic";
  }
  return "?";
}

const char* toString(Severity severity) {
  switch (severity) {
  case Severity::Note: return "note";
  case Severity::Warning: return "warning";
  case Severity::Error: return "error";
  }
  return "?";
}

const char* toString(Verdict verdict) {
  switch (verdict) {
  case Verdict::Proved: return "proved";
  case Verdict::Possible: return "possible";
  case Verdict::Observed: return "observed";
  case Verdict::Confirmed: return "confirmed";
  }
  return "?";
}

const char* toString(RaceScope scope) {
  switch (scope) {
  case RaceScope::None: return "";
  case RaceScope::IntraWarp: return "intra-warp";
  case RaceScope::InterWarp: return "inter-warp";
  case RaceScope::InterBlock: return "inter-block";
  case RaceScope::Host: return "host";
  }
  return "?";
}

const char* toString(RaceKind kind) {
  switch (kind) {
  case RaceKind::None: return "";
  case RaceKind::ReadWrite: return "read-write";
  case RaceKind::WriteWrite: return "write-write";
  case RaceKind::AtomicPlain: return "atomic-plain";
  }
  return "?";
}

const char* toString(Property property) {
  switch (property) {
  case Property::RaceFree: return "race-free";
  case Property::BarriersUniform: return "barriers-uniform";
  case Property::InBounds: return "in-bounds";
  case Property::Initialized: return "initialized";
  }
  return "?";
}

const char* toString(Answer answer) {
  switch (answer) {
  case Answer::Proved: return "proved";
  case Answer::Refuted: return "refuted";
  case Answer::Unknown: return "unknown";
  }
  return "?";
}

const Kernel* Facts::kernel(const std::string& symbol) const {
  for (const Kernel& kernel : kernels)
    if (kernel.symbol == symbol) return &kernel;
  return nullptr;
}

std::optional<std::int64_t> PassedValue::integer(std::size_t at, std::size_t count) const {
  if (count == 0 || count > 8 || at + count > bytes.size()) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!bytes[at + i]) return std::nullopt;
    value |= std::uint64_t(*bytes[at + i]) << (8 * i);
  }
  const unsigned unused = unsigned(64 - 8 * count);
  return std::int64_t(value << unused) >> unused;
}

double Metric::efficiency() const {
  if (sectors == 0) return 100;
  double percent = 100.0 * double(bytesRequested) / (32.0 * double(sectors));
  return percent > 100 ? 100 : percent;
}

} // namespace kcheck
