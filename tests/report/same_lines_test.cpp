// Races of several statements of one line are one finding.
#include "report/same_lines.h"
#include "samples.h"

#include <gmock/gmock.h>

namespace kcheck::test {
namespace {

using testing::Contains;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

Finding race(unsigned writeLine, unsigned writeColumn, unsigned readLine, unsigned readColumn,
             const std::string& array = "s") {
  Finding finding;
  finding.rule = "race-warp";
  finding.verdict = Verdict::Proved;
  finding.kernel = "k()";
  finding.scope = RaceScope::IntraWarp;
  Access write, read;
  write.kind = AccessKind::Write;
  write.where = at("k.cu", writeLine, writeColumn, writeColumn + 4);
  read.where = at("k.cu", readLine, readColumn, readColumn + 4);
  finding.accesses = {write, read};
  finding.where = write.where;
  finding.memory = MemoryFact();
  finding.memory->space = MemorySpace::Shared;
  finding.memory->name = array;
  finding.count = 2;
  return finding;
}

TEST(SameLines, StatementsOfOneLineAreOneFinding) {
  std::vector<Finding> findings{race(5, 20, 5, 10), race(5, 3, 5, 30), race(5, 3, 5, 10)};
  joinOfSameLines(findings);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].where.column, 3u);
  EXPECT_EQ(findings[0].accesses[1].where.column, 10u);
  EXPECT_EQ(findings[0].count, 6u);
  EXPECT_THAT(findings[0].notes, Contains(Field(&RelatedNote::message,
                                                "the same goes for 2 more pairs of accesses in this line")));
}

TEST(SameLines, TheWriteStaysWhereItIs) {
  std::vector<Finding> findings{race(5, 3, 6, 10), race(6, 3, 5, 10), race(5, 20, 6, 10)};
  joinOfSameLines(findings);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_THAT(
      findings[0].notes,
      Contains(Field(&RelatedNote::message, "the same goes for 1 more pair of accesses in lines 5 and 6")));
}

TEST(SameLines, TheSurestIsKept) {
  std::vector<Finding> findings{race(5, 3, 5, 10), race(5, 20, 5, 10)};
  findings[1].verdict = Verdict::Confirmed;
  joinOfSameLines(findings);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].where.column, 20u);
}

TEST(SameLines, OtherLinesArraysAndScopesStay) {
  std::vector<Finding> findings{race(5, 3, 5, 10), race(5, 3, 6, 10), race(5, 3, 5, 10, "other"),
                                race(5, 3, 5, 10)};
  findings[3].scope = RaceScope::InterBlock;
  joinOfSameLines(findings);
  ASSERT_THAT(findings, SizeIs(4));
  for (const Finding& finding : findings) EXPECT_THAT(finding.notes, IsEmpty());
}

} // namespace
} // namespace kcheck::test
