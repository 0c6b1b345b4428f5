// Which lanes of a warp are counted where bits of a mask are: `m & (1 << lane) - 1`, `m >> lane`,
// `m >> (lane & 16) & 0xffff`. What is taken of the mask hangs on the own lane alone, and is asked of each of
// them.
#pragma once

#include "analyzer/model/kernel_state.h"

#include <optional>

namespace kcheck::analyzer {

struct CountedLanes {
  enum class Kind {
    All,   ///< of its segment
    Below, ///< those below the own lane, at least of its segment
    Above
  };
  Kind kind;
  bool withOwn;     ///< the own lane as well
  unsigned segment; ///< lanes that are counted together: a power of two, the warp's for one
  /// Those of other segments are not counted.
  bool isSegmentAlone;
  Expr votes; ///< the mask that they are taken of
};

/// Nothing where the lanes' counts may be the same for some of a segment.
std::optional<CountedLanes> countedLanesOf(KernelState& state, Expr bits);
/// The bits of `votes` that are of the own lane's segment, in one way of saying it.
Expr votesOfSegment(KernelState& state, Expr votes, unsigned segment);
/// The number of that segment in its warp.
Expr segmentNumber(KernelState& state, unsigned segment);

} // namespace kcheck::analyzer
