// Models in which members of structures are told apart (model/prepare/member_objects.h), as far as they may
// be.
#pragma once

#include "analyzer/model/model_builder.h"

namespace kcheck::analyzer {

class ExprContext;

/// The kernel's model. Where a subscript may lead beyond its array, into another member, structures stay
/// whole.
KernelModel separableModel(ExprContext& exprs, const PreparedModule& prepared, const KernelCode& code,
                           const kcheck::Facts& facts, const LaunchCase& launch);

} // namespace kcheck::analyzer
