#include "instrument/pass/collector.h"

#include "instrument/pass/seen_launches.h"
#include "instrument/pass/wording/values.h"
#include "instrument/pass/wording/wording.h"
#include "report/kernel_name.h"

#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>

#include <map>

namespace kcheck::instrument {

bool isRace(wire::Rule rule) { return rule <= wire::Rule::RaceHost; }

namespace {

bool isWait(wire::Rule rule) {
  return rule == wire::Rule::BarrierDivergence || rule == wire::Rule::WarpMask || rule == wire::Rule::Hang;
}

Dim3 dim(const std::uint32_t (&index)[3]) { return {index[0], index[1], index[2]}; }

/// Whether all values that the accesses show look like floating-point numbers.
bool showReals(const wire::Finding& record) {
  bool any = false;
  for (unsigned i = 0; i < record.accessCount; ++i) {
    const wire::Access& access = record.access[i];
    for (auto [flag, value] : {std::pair{wire::HasBefore, access.before}, {wire::HasAfter, access.after}}) {
      if (!(access.flags & flag) || value == 0) continue;
      if (!looksReal(value, access.valueBytes)) return false;
      any = true;
    }
  }
  return any;
}

/// That of the source where it is of these bytes, or what they look like.
ValueType typeOf(const Site* site, unsigned bytes, bool looksReal) {
  const bool isInteger = site && (site->type == ValueType::Signed || site->type == ValueType::Unsigned);
  if (isInteger || (site && site->type != ValueType::Other && site->typeBytes == bytes)) return site->type;
  return looksReal ? ValueType::Real : ValueType::Signed;
}

/// Who an access without a thread is by. The host's own reads and writes come first in their records.
std::string actor(const wire::Finding& record, unsigned i) {
  const wire::Access& access = record.access[i];
  if (record.rule != wire::Rule::RaceHost || access.flags & wire::HasThread) return "";
  if (access.doing != wire::Doing::Host) return "a kernel";
  return (record.flags & wire::NoWait) && i == 0 ? "the host" : "a copy or fill";
}

} // namespace

/// Return addresses stand behind the call.
Location Collector::hostPlace(std::uint64_t address) const {
  if (!address) return {};
  if (address & wire::kDevicePlace) return sitePlace(static_cast<std::uint32_t>(address));
  WireReader::Place place = reader.place(address - 1);
  return place.path.empty() ? Location{} : symbolise(place.path, place.offset);
}

const Site* Collector::knownSite(std::uint32_t site) const {
  return site < facts.sites.size() ? &facts.sites[site] : nullptr;
}

Location Collector::sitePlace(std::uint32_t number) const {
  if (const Site* site = knownSite(number)) return site->where;
  const wire::Site* record = reader.site(number);
  if (!record) return {};
  return {reader.text(record->file), record->line, record->column, 0};
}

Access Collector::access(const wire::Access& record, bool looksReal) const {
  Access access;
  access.kind = record.doing == wire::Doing::Write                   ? AccessKind::Write
                : record.doing == wire::Doing::Atomic                ? AccessKind::Atomic
                : record.doing == wire::Doing::Host && record.unused ? AccessKind::Write
                                                                     : AccessKind::Read;
  access.loadsOnly = record.flags & wire::LoadsOnly;
  access.where = sitePlace(record.site);
  if (const Site* site = knownSite(record.site)) {
    access.site = record.site;
    access.expr = site->expr;
    access.updates = site->updates;
  } else if (record.caller) {
    access.where = hostPlace(record.caller);
  }
  if (record.flags & wire::HasBlock) access.block = dim(record.block);
  if (record.flags & wire::HasThread) access.thread = dim(record.thread);
  const ValueType type = typeOf(knownSite(record.site), record.valueBytes, looksReal);
  bool before = record.flags & wire::HasBefore, after = record.flags & wire::HasAfter;
  const bool writes = access.kind != AccessKind::Read && !access.loadsOnly;
  if (writes && before && after)
    access.value = valueText(record.before, record.valueBytes, type) + " -> " +
                   valueText(record.after, record.valueBytes, type);
  else if (writes && after)
    access.value = valueText(record.after, record.valueBytes, type);
  else if (!writes && before)
    access.value = valueText(record.before, record.valueBytes, type);
  return access;
}

/// What the program allocates there. Of several on one line the column decides, or nothing.
std::string Collector::nameAt(const Location& allocatedAt) const {
  std::string name;
  if (!allocatedAt.known()) return name;
  for (const Allocation& allocation : facts.allocations) {
    if (allocation.where.file != allocatedAt.file || allocation.where.line != allocatedAt.line) continue;
    if (allocation.where.column == allocatedAt.column) return allocation.name;
    name = name.empty() || name == allocation.name ? allocation.name : "?";
  }
  return name == "?" ? "" : name;
}

MemoryFact Collector::memory(const wire::Finding& record) const {
  const wire::Memory& from = record.memory;
  MemoryFact memory;
  memory.space = static_cast<MemorySpace>(from.space);
  memory.bytes = from.bytes;
  memory.name = llvm::demangle(reader.text(from.name));
  if (from.flags & wire::HasSize) memory.size = from.size;
  if (from.flags & wire::HasOffset) memory.offset = from.offset;
  memory.allocatedAt = hostPlace(from.allocatedBy);
  const Site* site = record.accessCount ? knownSite(record.access[0].site) : nullptr;
  const Site* other = record.accessCount > 1 ? knownSite(record.access[1].site) : nullptr;
  // One of two names is that of an array whose end an access has run past: which one?
  const bool isOneName = !other || !site || site->array == other->array;
  if (memory.name.empty() && site && isOneName) memory.name = site->array;
  if (memory.name.empty()) memory.name = nameAt(memory.allocatedAt);
  if (memory.name.empty() && site) memory.name = site->array;
  return memory;
}

static std::string kernelText(const std::string& kernel, const Location& launch) {
  const std::string where = launch.known() ? fmt::format(" (launched at line {})", launch.line) : "";
  return fmt::format("kernel `{}`{}", withoutParameters(kernel), where);
}

/// The work that another stream has under way: a library's function, or a kernel. Empty where it is neither.
std::string Collector::otherWork(const wire::Finding& record) const {
  const wire::Access& other = record.access[1];
  const bool isNamed = record.text || record.flags & wire::NoWait; // told in other words
  if (other.library || record.rule != wire::Rule::RaceHost || other.doing == wire::Doing::Host || isNamed)
    return reader.text(other.library);
  const std::string kernel =
      reader.text(record.access[0].doing == wire::Doing::Host ? record.kernel : record.detail);
  if (kernel.empty()) return "";
  return kernelText(kernel, hostPlace(other.caller));
}

/// What has found the other at work, as otherWork().
std::string Collector::ownWork(const wire::Finding& record) const {
  const wire::Access& own = record.access[0];
  if (own.library || record.rule != wire::Rule::RaceHost || own.doing == wire::Doing::Host || !record.kernel)
    return reader.text(own.library);
  return kernelText(reader.text(record.kernel), hostPlace(record.caller));
}

/// Barriers and collectives: who waits where, as notes; there is no memory access to show.
void Collector::addWaiting(Finding& finding, const wire::Finding& record) const {
  for (unsigned i = 0; i < record.accessCount; ++i) {
    const wire::Access& from = record.access[i];
    Access stands = access(from);
    if (i == 0) finding.where = stands.where;
    auto at = [](const Dim3& index) {
      return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) +
             ")";
    };
    std::string who = "thread " + at(dim(from.thread)) + " of block " + at(dim(from.block));
    const bool returned = from.doing == wire::Doing::Returned, isOne = from.count <= 1;
    if (!isOne) who += " and " + std::to_string(from.count - 1) + " more";
    const char* does = returned     ? (isOne ? " has returned" : " have returned")
                       : from.scope ? (isOne ? " polls here" : " poll here")
                                    : (isOne ? " waits here" : " wait here");
    Location place = returned ? finding.where : stands.where;
    finding.notes.push_back({place, who + does});
  }
}

void Collector::addRace(Finding& finding, const wire::Finding& record) const {
  bool atomic[2]{}, writes[2]{};
  for (unsigned i = 0; i < record.accessCount; ++i) {
    finding.accesses.push_back(access(record.access[i], showReals(record)));
    const std::string named = i == 1 ? otherWork(record) : reader.text(record.access[i].library);
    finding.accesses.back().by = named.empty() ? actor(record, i) : named;
    atomic[i] = record.access[i].doing == wire::Doing::Atomic;
    writes[i] = finding.accesses[i].kind != AccessKind::Read && !finding.accesses[i].loadsOnly;
  }
  finding.kind = atomic[0] != atomic[1]   ? RaceKind::AtomicPlain
                 : writes[0] && writes[1] ? RaceKind::WriteWrite
                                          : RaceKind::ReadWrite;
  finding.sameValue = finding.kind == RaceKind::WriteWrite && (record.flags & wire::SameValue) &&
                      !(record.flags & wire::SawDifferentValue);
  finding.throughReadOnlyCache = record.readOnlyCache;
  if (finding.accesses.size() == 1) finding.where = finding.accesses[0].where;
  // The write first; of two writes, the first in the source.
  if (finding.accesses.size() == 2) {
    Access &a = finding.accesses[0], &b = finding.accesses[1];
    bool swap = writes[0] != writes[1] ? writes[1] : b.where.known() && b.where < a.where;
    if (swap || (!a.where.known() && b.where.known())) std::swap(a, b);
    finding.where = a.where;
  }
}

/// Where a finding of host code stands, and for device code where the memory came from and went.
void Collector::addHostPlaces(Finding& finding, const wire::Finding& record) const {
  if (!finding.where.known()) finding.where = hostPlace(record.caller);
  if (record.rule == wire::Rule::RedundantTransfer)
    finding.notes.push_back({hostPlace(record.numbers[1]), "copied to the host here"});
  if (record.rule == wire::Rule::OutOfBounds && record.numbers[1])
    finding.notes.push_back({hostPlace(record.numbers[1]), "it lands in the memory that is allocated here"});
  if (record.rule == wire::Rule::UninitializedRead && record.numbers[1])
    finding.notes.push_back({hostPlace(record.numbers[1]), "in the run, this store came first"});
  if (record.memory.flags & wire::Freed)
    if (Location freed = hostPlace(record.memory.freedBy); freed.known())
      finding.notes.push_back({freed, "freed here"});
}

Finding Collector::finding(const wire::Finding& record) const {
  Finding finding;
  finding.rule = ruleId(record.rule);
  finding.severity = severityOf(record.rule);
  finding.verdict = Verdict::Observed;
  finding.kernel = reader.text(record.kernel);
  finding.count = record.count;
  finding.scope = static_cast<RaceScope>(record.nearness);
  std::string text = reader.text(record.text);
  if (record.memory.flags || record.memory.address) finding.memory = memory(record);
  if (isWait(record.rule)) {
    addWaiting(finding, record);
  } else if (isRace(record.rule)) {
    addRace(finding, record);
  } else if (record.accessCount) {
    if (record.access[0].doing != wire::Doing::None)
      finding.accesses.push_back(access(record.access[0], showReals(record)));
    finding.where = sitePlace(record.access[0].site);
  }
  if (record.rule == wire::Rule::AssertFailed)
    finding.where = {reader.text(record.detail), static_cast<unsigned>(record.numbers[0]), 0, 0};
  addHostPlaces(finding, record);
  word(finding, record, text, {ownWork(record), otherWork(record)});
  if (finding.hint.empty() && record.rule != wire::Rule::AssertFailed)
    finding.hint = reader.text(record.hint);
  return finding;
}

Metric Collector::metric(const wire::Metric& record) const {
  Metric metric;
  metric.kernel = reader.text(record.kernel);
  metric.site = knownSite(record.site) ? record.site : kNoSite;
  metric.where = sitePlace(record.site);
  metric.access = static_cast<AccessKind>(record.access);
  metric.space = static_cast<MemorySpace>(record.space);
  metric.requests = record.requests;
  metric.sectors = record.sectors;
  metric.idealSectors = record.idealSectors;
  metric.bytesRequested = record.bytesRequested;
  metric.bankWays = record.bankWays;
  metric.source = Source::Run;
  return metric;
}

Launch Collector::launch(const wire::Launch& record) const {
  Launch launch;
  launch.kernel = reader.text(record.symbol);
  launch.where = hostPlace(record.caller);
  launch.grid = dim(record.grid);
  launch.block = dim(record.block);
  launch.sharedBytes = record.sharedBytes;
  return launch;
}

SeenLaunches Collector::seen() const {
  std::map<std::uint64_t, Location> known; // looking a place up takes long, and loops launch often
  auto place = [&](std::uint64_t address) {
    const auto [entry, isNew] = known.try_emplace(address);
    if (isNew) entry->second = hostPlace(address);
    return entry->second;
  };
  return seenLaunches(reader, place, [&](const Location& where) { return nameAt(where); });
}

} // namespace kcheck::instrument
