// The program's own threads. What one of them has waited for, another knows only where it can have heard of
// it: it has been started afterwards, or has done something since by which threads learn of each other,
// whatever that is (frontend/host_learning.h). Whoever waits tells everyone; who may not have listened does
// not know.
#pragma once

#include <cstdint>

namespace kcheck::runtime {

/// 0: not followed; such a thread counts as knowing everything.
using HostThread = std::uint32_t;

HostThread thisHostThread();
/// A number for a thread that the calling one is about to start.
HostThread startHostThread();
/// Of the new thread, as long as it runs.
class FollowedThread {
public:
  explicit FollowedThread(HostThread number);
  ~FollowedThread();
  FollowedThread(const FollowedThread&) = delete;
  FollowedThread& operator=(const FollowedThread&) = delete;
};
/// It was not started after all.
void forgetHostThread(HostThread number);

/// While it lives, the calling thread counts as one that knows everything.
class ForAllThreads {
public:
  ForAllThreads();
  ~ForAllThreads();
  ForAllThreads(const ForAllThreads&) = delete;
  ForAllThreads& operator=(const ForAllThreads&) = delete;

private:
  HostThread before;
  bool stoodForAll;
};

/// While it lives, the calling thread counts as another, which it has started just now: a function that a
/// stream calls knows what its caller knew. What that one waits for the caller must hear of. In threads that
/// are not followed nothing changes.
class AsCalledThread {
public:
  AsCalledThread();
  ~AsCalledThread();
  AsCalledThread(const AsCalledThread&) = delete;
  AsCalledThread& operator=(const AsCalledThread&) = delete;

private:
  HostThread before;
  std::uint64_t heardBefore;
};

/// Whether threads are followed: where the program has code that kcheck has not compiled, one may learn of
/// others where nobody sees it.
bool hostThreadsAreFollowed();

/// The calling thread has locked something, read an atomic, or come back from a call that may have.
void hostThreadLearns();

} // namespace kcheck::runtime
