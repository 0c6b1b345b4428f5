// What a warp's operations hand from lane to lane.
#pragma once

#include "analyzer/expr/expr.h"

#include <optional>

namespace llvm {
class CallInst;
} // namespace llvm

namespace kcheck::analyzer {

struct KernelState;

/// What `__shfl_sync` of all lanes from one fixed lane gives, `value` being what the thread itself sends: the
/// same, as that lane has it. Null where it is another operation, where the lane may stay away while this
/// thread comes, which is so under `condition`, or where either hangs on more of the thread than its index.
Expr laneBroadcast(KernelState& state, const llvm::CallInst& call, Expr value, Expr condition);

/// A ballot of all lanes of a warp: how this one voted, and which warp and round it was.
struct Ballot {
  Expr vote = nullptr;
  std::vector<Expr> keys;
};

/// What tells a ballot from those of other warps and rounds. Nothing where it is not one of all lanes, or the
/// lanes do not surely come to it together. `identity`: that of the thread at the call.
std::optional<Ballot> ballotOf(KernelState& state, const llvm::CallInst& call, Expr vote,
                               const std::vector<Expr>& identity);

/// The bits of the lanes below the thread's own.
Expr lanesBelow(KernelState& state);
bool isLanesBelow(KernelState& state, Expr mask);

} // namespace kcheck::analyzer
