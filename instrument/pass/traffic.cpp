#include "instrument/pass/traffic.h"

#include "report/traffic.h"

namespace kcheck::instrument {

void addTrafficNotes(Observation& observation, const Facts& facts) {
  for (const Metric& metric : observation.metrics)
    if (auto note = trafficNote(metric, facts)) observation.findings.push_back(std::move(*note));
}

} // namespace kcheck::instrument
