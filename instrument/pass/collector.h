// What the records of a log (wire.h) become: findings, metrics and launches with places and names.
#pragma once

#include "instrument/pass/collect.h"
#include "instrument/pass/wire_reader.h"

namespace kcheck::instrument {

/// Of one log.
class Collector {
public:
  Collector(const WireReader& reader, const Facts& facts, const Symbolise& symbolise)
      : reader(reader), facts(facts), symbolise(symbolise) {}

  Finding finding(const wire::Finding& record) const;
  Metric metric(const wire::Metric& record) const;
  Launch launch(const wire::Launch& record) const;
  SeenLaunches seen() const;
  Location sitePlace(std::uint32_t site) const;

private:
  Location hostPlace(std::uint64_t address) const;
  std::string otherWork(const wire::Finding& record) const;
  std::string ownWork(const wire::Finding& record) const;
  const Site* knownSite(std::uint32_t site) const;
  Access access(const wire::Access& access, bool real = false) const;
  std::string nameAt(const Location& allocatedAt) const;
  MemoryFact memory(const wire::Finding& record) const;
  void addWaiting(Finding& finding, const wire::Finding& record) const;
  void addRace(Finding& finding, const wire::Finding& record) const;
  void addHostPlaces(Finding& finding, const wire::Finding& record) const;

  const WireReader& reader;
  const Facts& facts;
  const Symbolise& symbolise;
};

/// Threads that access the same memory without order, or host and device.
bool isRace(wire::Rule rule);

} // namespace kcheck::instrument
