// What the traffic of the known launches says: metrics per access, notes on wasted bandwidth with the reason,
// and launches that do not fit their arrays.
#pragma once

#include "analyzer/analyzer.h"
#include "analyzer/traffic/traffic.h"

namespace kcheck::analyzer {

/// One launch that has been looked at.
struct CountedLaunch {
  const Launch* launch = nullptr; ///< null: not one of the program's
  const KernelModel* model = nullptr;
  std::optional<LaunchTraffic> traffic; ///< absent when the launch is not known in full
};

/// Metrics and notes of one kernel. `any` is its model for any launch, for words about strides.
void addTraffic(const std::vector<CountedLaunch>& launches, const KernelModel& any, ExprContext& anyExprs,
                const Facts& facts, Analysis& analysis);

/// Looks at all launches of the program together.
class Coverage {
public:
  explicit Coverage(const Facts& facts);
  void add(const CountedLaunch& counted);
  std::vector<Finding> findings() const;

private:
  struct Touched {
    std::int64_t lowest = 0, beyond = 0;
    std::uint64_t written = 0; ///< bytes, each as often as it is
    bool hasHoles = false;     ///< of `dense`, which may then have been filled by other writes
    bool any = false, open = false;
    std::optional<Finding> dense; ///< what to say when no launch touches the rest of the array
    std::int64_t denseBeyond = 0; ///< where that rest begins
  };
  std::optional<std::size_t> allocationOf(const MemoryObject& object) const;
  void addAccess(const CountedLaunch& counted, const AccessTraffic& access);
  void addIdle(const CountedLaunch& counted);

  const Facts& facts;
  std::vector<Touched> touched; ///< by allocation
  std::vector<Finding> idle;
};

} // namespace kcheck::analyzer
