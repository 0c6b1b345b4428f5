// Where something goes wrong in the launch of kcheck's own choice: others, of which the kernel may be meant
// for one.
#pragma once

#include "analyzer/decide/races.h"
#include "analyzer/kernel_model.h"
#include "analyzer/launches.h"

#include <functional>
#include <vector>

namespace kcheck::analyzer {

/// Launches of two or three blocks along an axis, where the kernel asks for blocks by number or their places
/// lie side by side, and of other usual widths, in which the kernel does as much as in the chosen one. A
/// width that the kernel's numbers fit is only rounded.
std::vector<PlannedCase> otherChoices(const LaunchPlan& plan, const KernelModel& chosen,
                                      const std::function<bool(const LaunchCase&)>& doesAsMuch);

/// Whether all that some threads of the chosen launch do differently, by numbers in the kernel's text (`i <
/// 64`, `i % 256`, `i / 32`), some threads of the other one do differently as well: few threads show no
/// mistake that many make. `any`: the kernel for a launch of any size, which has no other numbers.
bool asksAsMuch(const KernelModel& other, const KernelModel& chosen, const KernelModel& any);

/// Whether something is wrong, in sure words.
bool goesWrong(const KernelAnswers& answers);
/// Whether nothing is, in sure words as far as there are some.
bool goesWell(const KernelAnswers& answers);

} // namespace kcheck::analyzer
