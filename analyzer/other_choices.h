// Where something goes wrong in the launch of kcheck's own choice: others, of which the kernel may be meant
// for one.
#pragma once

#include "analyzer/decide/races.h"
#include "analyzer/kernel_model.h"
#include "analyzer/launches.h"

#include <functional>
#include <vector>

namespace kcheck::analyzer {

/// Launches of other usual widths, and of two blocks along an axis, in which the kernel does all that it does
/// in the chosen one: those for which `model` has no less to say. A choice that the kernel's numbers fit is
/// only rounded.
std::vector<PlannedCase> otherChoices(const LaunchPlan& plan, const KernelModel& chosen,
                                      const std::function<bool(const LaunchCase&)>& doesAsMuch);

/// Whether something is wrong, in sure words.
bool goesWrong(const KernelAnswers& answers);
/// Whether nothing is, in sure words as far as there are some.
bool goesWell(const KernelAnswers& answers);

} // namespace kcheck::analyzer
