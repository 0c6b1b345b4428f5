// Barrier objects (mbarrier) and arrivals at named barriers, as calls that the model knows by name: PTX has
// them in many spellings, and polls an object in loops that read what an instruction has left in a predicate.
#pragma once

#include "ptx/builder.h"

namespace kcheck::analyzer {

/// `void (object, count)`, `token (object)`, `done (object, token)`, `done (object, parity)`, the same
/// without a result that wait until it is so, and `void (number, threads)`.
inline constexpr const char *kInitObject = "kcheck.mbarrier.init",
                            *kArriveAtObject = "kcheck.mbarrier.arrive",
                            *kTestToken = "kcheck.mbarrier.test.token",
                            *kTestParity = "kcheck.mbarrier.test.parity",
                            *kWaitForToken = "kcheck.mbarrier.wait.token",
                            *kWaitForParity = "kcheck.mbarrier.wait.parity",
                            *kArriveAtName = "kcheck.bar.arrive";
/// One of these.
bool isOwnCall(const llvm::CallInst& call);

/// Rules for `mbarrier` and, of `bar` and `barrier`, the arrival.
bool barrierObject(ptx::Builder& p, const ptx::Statement& s);
bool arriveAtName(ptx::Builder& p, const ptx::Statement& s);

/// `isspacep` of pointers whose variable is in sight gets its answer: libraries ask so of a barrier object,
/// and have another one, of atomics, for the answer no.
bool foldSpaces(llvm::Function& kernel);

/// A loop that does nothing but test an object until it is done becomes a wait for that.
bool waitInsteadOfPolling(llvm::Function& kernel);

/// Branches that are decided become none.
void dropFoldedWays(llvm::Function& kernel);

} // namespace kcheck::analyzer
