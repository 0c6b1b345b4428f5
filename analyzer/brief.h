// Whether there is anything in a kernel that would be worth spreading over many threads.
#pragma once

namespace llvm {
class Function;
}

namespace kcheck::analyzer {

/// Of a prepared kernel: each thread is done after a few steps, whatever the launch. False where that is not
/// known: loops of no constant length, calls that are not followed.
bool isBrief(const llvm::Function& kernel);

} // namespace kcheck::analyzer
