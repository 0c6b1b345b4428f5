// For the end of which phase threads wait.
#pragma once

#include "analyzer/model/phased/rings.h"

namespace kcheck::analyzer {

class PhasedWaits {
public:
  PhasedWaits(KernelState& state, const Execution& run, const Ways& ways)
      : state(state), run(run), ways(ways) {}

  /// Those of a ring of which it is known who arrives; `doubts` gets the others.
  void find(Ring& ring, std::map<const llvm::Instruction*, std::string>& doubts) const;

private:
  std::optional<Count> phaseByArrival(const Ring& ring, const PhasedOperation& wait) const;
  std::optional<Count> phaseByParity(const Ring& ring, const PhasedOperation& wait,
                                     const std::vector<const llvm::Instruction*>& byParity) const;

  KernelState& state;
  const Execution& run;
  const Ways& ways;
};

} // namespace kcheck::analyzer
