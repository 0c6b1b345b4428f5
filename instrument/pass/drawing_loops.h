// Loops in which atomics deal out work: tickets, claims, visited marks.
#pragma once

namespace llvm {
class Function;
}

namespace kcheck::instrument {

/// Lets threads give way in each round of such loops, where ThreadContext::turns asks for it: else the first
/// one that runs draws all there is. Not in those in which each thread goes through work of its own. Whether
/// there are any.
bool giveWayWhereWorkIsDrawn(llvm::Function& function);

} // namespace kcheck::instrument
