// One way to come to an access, for proofs that go through all of them in turn.
#pragma once

#include "analyzer/decide/question.h"

namespace kcheck::analyzer {

struct Arm {
  Expr condition, offset, size;
};

inline Arm armOf(const ModelAccess& access) { return {access.condition, access.offset, access.size}; }

/// With one value for the symbol.
Arm fixed(KernelView& kernel, const Arm& arm, Expr symbol, std::int64_t value);

} // namespace kcheck::analyzer
