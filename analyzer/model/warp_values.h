// What a warp's operations hand from lane to lane.
#pragma once

#include "analyzer/expr/expr.h"

namespace llvm {
class CallInst;
} // namespace llvm

namespace kcheck::analyzer {

struct KernelState;

/// What `__shfl_sync` of all lanes from one fixed lane gives, `value` being what the thread itself sends: the
/// same, as that lane has it. Null where it is another operation, where the lane may stay away while this
/// thread comes, which is so under `condition`, or where either hangs on more of the thread than its index.
Expr laneBroadcast(KernelState& state, const llvm::CallInst& call, Expr value, Expr condition);

} // namespace kcheck::analyzer
