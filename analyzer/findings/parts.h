// What findings of all kinds are made of: the accesses as the program has them, the values of the witness,
// and how sure the finding is.
#pragma once

#include "analyzer/findings/findings.h"

#include <initializer_list>
#include <string>

namespace kcheck::analyzer {

/// As the program writes it.
std::string exprOf(const ModelAccess& access, const FindingContext& context);
Access accessOf(const ModelAccess& access, const WitnessThread& thread, const FindingContext& context);
MemoryFact memoryOf(const ModelAccess& access, const WitnessThread& thread, const FindingContext& context);

/// The values of the witness that the accesses do not show themselves.
void addValues(Finding& finding, const Witness& witness);

/// `parts` are the expressions that the finding is about.
void settleVerdict(Finding& finding, const Witness& witness, const FindingContext& context,
                   std::initializer_list<Expr> parts);

} // namespace kcheck::analyzer
