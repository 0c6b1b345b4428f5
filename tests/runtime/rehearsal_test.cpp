// A launch may run again in other orders, and that costs no more than its first run, or half a second.
#include "instrument/runtime/core/rehearsal.h"

#include <gtest/gtest.h>

namespace kcheck::runtime {
namespace {

constexpr Rehearsal kAll[] = {Rehearsal::Backwards, Rehearsal::InStep, Rehearsal::Staggered};

TEST(RehearsalLimit, isWhatTheFirstRunHasCost) {
  constexpr std::uint64_t first = 50'000'000;
  for (Rehearsal order : kAll) EXPECT_LE(rehearsalLimit(order, first), first);
  EXPECT_EQ(rehearsalLimit(Rehearsal::Backwards, first), first);
}

TEST(RehearsalLimit, leavesShortLaunchesRoomToWait) {
  constexpr std::uint64_t first = 1'000;
  EXPECT_GE(rehearsalLimit(Rehearsal::Backwards, first), 8 * first);
  for (Rehearsal order : {Rehearsal::InStep, Rehearsal::Staggered})
    EXPECT_GE(rehearsalLimit(order, first), 200'000u);
}

} // namespace
} // namespace kcheck::runtime
