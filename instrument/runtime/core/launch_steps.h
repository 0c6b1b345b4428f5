// What launch.cpp and turns.cpp share: the steps of a launch from its first thread to what is said of it.
#pragma once

#include "instrument/runtime/core/state.h"

#include <mutex>

namespace kcheck::runtime {

/// One launch runs at a time.
std::mutex& launchMutex();
/// Tells who waits for the run what it is at.
void showStart(const LaunchState& launch);
/// What there is to say when the last thread has ended.
void settle(LaunchState& launch);
void noteFaults(const LaunchState& launch);
/// It has ended, and its state is free.
void conclude(LaunchState& launch);
/// How often a launch polls while it is set aside says nothing of its traffic.
void forgetPolls(LaunchState& launch);
/// Nothing that has been set aside goes on.
void dropAll();

} // namespace kcheck::runtime
