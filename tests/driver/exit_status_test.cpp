// What the exit status says, where it is decided.
#include "driver/pipeline.h"

#include <gtest/gtest.h>

namespace kcheck::driver {
namespace {

TEST(ExitStatus, ContradictionsBetweenThePassesAreNeverQuiet) {
  Report report;
  Options options;
  EXPECT_EQ(exitStatus(report, options), 0);
  report.disagreements = {"the run measured 32 sectors per request where the static pass had computed 4"};
  EXPECT_EQ(exitStatus(report, options), 2);
  options.failOn = FailOn::Never;
  EXPECT_EQ(exitStatus(report, options), 2);
}

TEST(ExitStatus, AProgramThatCannotBeRunIsNeverQuiet) {
  Report report;
  Options options;
  report.run.notRunBecause = "no main and no launch line";
  EXPECT_EQ(exitStatus(report, options), 0);
  report.run.notRunBecause =
      "the program calls `cusparseCreate` of cuSPARSE, which kcheck cannot run without a GPU";
  report.run.couldNotRun = true;
  EXPECT_EQ(exitStatus(report, options), 2);
}

} // namespace
} // namespace kcheck::driver
