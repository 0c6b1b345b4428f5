#include "instrument/pass/wire_reader.h"

#include <algorithm>

namespace kcheck::instrument {

WireReader::WireReader(std::span<const std::byte> wholeLog) : log(wholeLog) {
  if (log.size() < sizeof(wire::Header)) return;
  const auto& header = *reinterpret_cast<const wire::Header*>(log.data());
  if (header.magic != wire::kMagic || header.version != wire::kVersion) return;
  kernelsLaunched = header.kernelsLaunched;
  sharedLaunches = header.shared;
  if (const wire::TextRef kernel = header.runningKernel) {
    runningKernel = text(kernel);
    runningSite = header.runningSite;
  }
  truncated = header.truncated;
  std::uint64_t end = std::min<std::uint64_t>(header.used, log.size());
  log = log.first(end);
  for (std::uint64_t at = (sizeof(wire::Header) + 7) & ~std::uint64_t{7}; at + sizeof(wire::Record) <= end;) {
    const auto& record = *reinterpret_cast<const wire::Record*>(log.data() + at);
    if (record.bytes < sizeof(wire::Record) || record.bytes % 8 || at + record.bytes > end) break;
    take(record);
    at += record.bytes;
  }
}

template <class T> static const T* as(const wire::Record& record) {
  return record.bytes >= sizeof(T) ? reinterpret_cast<const T*>(&record) : nullptr;
}

static bool isWhole(const wire::Arguments& given) {
  return sizeof given + std::uint64_t{given.pointers} * sizeof(wire::PassedPointer) +
             std::uint64_t{given.parameters} * sizeof(wire::PassedParameter) + given.bytes <=
         given.head.bytes;
}

void WireReader::take(const wire::Record& record) {
  switch (static_cast<wire::RecordKind>(record.kind)) {
  case wire::RecordKind::Finding:
    if (const auto* finding = as<wire::Finding>(record); finding && !(finding->flags & wire::Withdrawn))
      findings.push_back(finding);
    break;
  case wire::RecordKind::Metric:
    if (const auto* metric = as<wire::Metric>(record)) metrics.push_back(metric);
    break;
  case wire::RecordKind::Launch:
    if (const auto* launch = as<wire::Launch>(record)) launches.push_back(launch);
    break;
  case wire::RecordKind::Arguments:
    if (const auto* given = as<wire::Arguments>(record); given && isWhole(*given)) arguments.push_back(given);
    break;
  case wire::RecordKind::CutShort:
    if (const auto* cut = as<wire::CutShort>(record)) cutShort.push_back(cut);
    break;
  case wire::RecordKind::Site:
    if (const auto* site = as<wire::Site>(record)) sites[site->site] = site;
    break;
  case wire::RecordKind::Image:
    if (const auto* image = as<wire::Image>(record)) images.push_back(image);
    break;
  case wire::RecordKind::String:
  case wire::RecordKind::Unfinished: break;
  }
}

std::string WireReader::text(wire::TextRef reference) const {
  std::uint64_t at = std::uint64_t{reference} * 8;
  if (!reference || at + sizeof(wire::Record) > log.size()) return "";
  const auto& record = *reinterpret_cast<const wire::Record*>(log.data() + at);
  if (record.kind != static_cast<std::uint32_t>(wire::RecordKind::String)) return "";
  std::uint64_t room = std::min<std::uint64_t>(record.bytes, log.size() - at) - sizeof(wire::Record);
  const char* start = reinterpret_cast<const char*>(&record + 1);
  return std::string(start, std::find(start, start + room, '\0'));
}

WireReader::Place WireReader::place(std::uint64_t address) const {
  for (const wire::Image* image : images)
    if (address >= image->base && address < image->end && image->path)
      return {text(image->path), address - image->base};
  return {};
}

const wire::Site* WireReader::site(std::uint32_t number) const {
  auto found = sites.find(number);
  return found == sites.end() ? nullptr : found->second;
}

} // namespace kcheck::instrument
