// Barriers at which a thread may arrive in one place and wait in another: named ones (`bar.arrive`,
// `bar.sync`) and objects in shared memory (mbarrier, cuda::barrier). Each goes through phases: one is over
// when as many threads have arrived as the barrier counts.
//
// Where just as many threads ever come to arrive as are counted, and each has seen the phase before over when
// it arrives again, the n-th arrival of each thread is one at phase n, and who has waited for the end of
// phase n comes behind what any of them has done before its n-th arrival. Barriers of a ring of stages
// (`full[i % 2]`) are taken as one, whose n-th phase is one of the barrier that the ring has at n.
#pragma once

#include "analyzer/kernel_model.h"
#include "analyzer/model/phased/counts.h"

#include <memory>

namespace kcheck::analyzer {

class Execution;
struct KernelState;

/// Behind it a phase is over.
struct PhasedWait {
  const llvm::Instruction* at = nullptr;
  Count phase;           ///< which one; below 0: none
  bool isSteady = false; ///< every round of its loop comes to it
};

struct PhasedArrival {
  const llvm::Instruction* at = nullptr;
  Expr comes = nullptr; ///< width 1, as far as the thread's own numbers say it
};

struct PhasedBarrier {
  std::vector<PhasedArrival> arrivals;
  std::vector<PhasedWait> waits;
  std::int64_t stages = 1;
  Expr comes = nullptr; ///< width 1: the thread is one of those that arrive
};

struct PhasedBarriers {
  std::shared_ptr<const Ways> ways;
  std::vector<PhasedBarrier> barriers;
  std::vector<PhaseOrder> orders;
  std::map<const llvm::Instruction*, std::string> doubts; ///< of what is not followed: why
};

/// Of a kernel, by a run of it that does not stop.
std::shared_ptr<const PhasedBarriers> readPhasedBarriers(KernelState& state, Execution& run);

} // namespace kcheck::analyzer
