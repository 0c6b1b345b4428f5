// Barrier objects in shared memory: with how many threads each is set up, and whether that is done before
// anybody uses it.
#pragma once

#include "analyzer/model/phased/comers.h"
#include "analyzer/model/phased/operations.h"

namespace kcheck::analyzer {

class BarrierObjects {
public:
  BarrierObjects(KernelState& state, Execution& run, const Ways& ways, Comers& comers,
                 const PhasedOperations& operations);

  /// How many threads the barrier counts, as a number of 32 bits, or why that is not known.
  struct Counted {
    Expr threads = nullptr;
    std::string doubt;
  };
  Counted at(const PhasedName& name) const;

private:
  void readSetUp(const RunAccess& access);
  std::vector<Expr> placesOf(const RunAccess& access);
  void checkOrder(const PhasedOperations& operations);
  bool comesBeforeAll(const llvm::Instruction& barrier, unsigned object,
                      const PhasedOperations& operations) const;

  KernelState& state;
  Execution& run;
  const Ways& ways;
  Comers& comers;
  std::map<PhasedName, Expr> counts;
  std::map<unsigned, std::string> doubts; ///< by object
  std::map<unsigned, std::vector<const llvm::Instruction*>> setUps;
};

} // namespace kcheck::analyzer
