// What is certain of a thread's own arrays once their loops have been looked at: reads of arrays that counted
// loops have filled before, and accesses that stay inside, need no question.
#pragma once

namespace llvm {
class Function;
}

namespace kcheck::instrument {

/// Takes away the questions about local arrays (kcUnwritten, kcLocal) that counted loops answer.
void settleFilledArrays(llvm::Function& function);

} // namespace kcheck::instrument
