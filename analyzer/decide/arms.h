// The ways to come to an access, as proofs by cases make them.
#pragma once

#include "analyzer/decide/question.h"

namespace kcheck::analyzer {

inline Arm armOf(const ModelAccess& access) { return {access.condition, access.offset, access.size}; }

/// With one value for the symbol.
Arm fixed(KernelView& kernel, const Arm& arm, Expr symbol, std::int64_t value);

} // namespace kcheck::analyzer
