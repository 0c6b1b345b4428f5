// Where a host thread may learn what others have done: after each lock, atomic operation or call that could
// be one. The runtime is told (kcHostLearns), so that it knows what one thread has waited for that another
// cannot know of.
#pragma once

namespace llvm {
class Module;
}

namespace kcheck::frontend {

/// Of host code that no optimiser has seen.
void markWhereThreadsLearn(llvm::Module& host);

} // namespace kcheck::frontend
