#include "instrument/pass/traffic.h"

#include "report/traffic.h"

namespace kcheck::instrument {

void addTrafficNotes(Observation& observation, const std::vector<Metric>& telling, const Facts& facts) {
  for (const Metric& metric : telling)
    if (auto note = trafficNote(metric, facts)) observation.findings.push_back(std::move(*note));
}

} // namespace kcheck::instrument
