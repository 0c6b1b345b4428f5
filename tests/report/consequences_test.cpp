// What one finding says of another.
#include "report/consequences.h"
#include "samples.h"

#include <gmock/gmock.h>

namespace kcheck::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

MemoryFact sharedArray(const std::string& name, std::uint64_t size) {
  MemoryFact memory;
  memory.space = MemorySpace::Shared;
  memory.name = name;
  memory.size = size;
  return memory;
}

Access access(AccessKind kind, unsigned line, const std::string& expr) {
  Access made;
  made.kind = kind;
  made.where = at("k.cu", line, 3, 9);
  made.expr = expr;
  return made;
}

Finding seen(const std::string& rule, std::vector<Access> accesses, MemoryFact memory) {
  Finding finding;
  finding.rule = rule;
  finding.verdict = Verdict::Observed;
  finding.severity = Severity::Error;
  finding.kernel = "k()";
  finding.count = 1;
  finding.where = accesses[0].where;
  finding.accesses = std::move(accesses);
  finding.memory = std::move(memory);
  return finding;
}

Finding raceOf(const std::string& written, const std::string& read, const std::string& array) {
  return seen("race-shared", {access(AccessKind::Write, 5, written), access(AccessKind::Read, 6, read)},
              sharedArray(array, 256));
}

TEST(Consequences, SayWhichArrayAnAccessOverran) {
  std::vector<Finding> findings{
      seen("out-of-bounds", {access(AccessKind::Write, 5, "first[t + w]")}, sharedArray("first", 128)),
      raceOf("first[t + w]", "second[t]", "second")};
  noteOverruns(findings);
  ASSERT_THAT(findings[1].notes, SizeIs(1));
  EXPECT_THAT(findings[1].notes[0].message, HasSubstr("past the end of `first` here, into `second`"));
  EXPECT_THAT(findings[0].notes, IsEmpty());
}

TEST(Consequences, LeaveARaceInsideItsArrayAlone) {
  std::vector<Finding> findings{
      seen("out-of-bounds", {access(AccessKind::Write, 5, "first[t]")}, sharedArray("first", 128)),
      raceOf("first[t]", "first[t + 1]", "first")};
  findings[1].memory->size = 128;
  noteOverruns(findings);
  EXPECT_THAT(findings[1].notes, IsEmpty());
}

TEST(Consequences, PointFromAnAccessOutsideToTheRaceForItsIndex) {
  std::vector<Finding> findings{seen("out-of-bounds",
                                     {access(AccessKind::Write, 8, "out[atomicAdd(&count[k], 1)]")},
                                     sharedArray("out", 128)),
                                raceOf("count[t]", "count[t - d]", "count")};
  noteFollowing(findings);
  ASSERT_THAT(findings[0].notes, SizeIs(1));
  EXPECT_EQ(findings[0].notes[0].where, findings[1].where);
  EXPECT_THAT(findings[0].notes[0].message, HasSubstr("`count[t]`"));
  EXPECT_THAT(findings[1].notes, IsEmpty());
}

TEST(Consequences, AskForTheWholeName) {
  std::vector<Finding> findings{
      seen("out-of-bounds", {access(AccessKind::Write, 8, "out[counts[k]]")}, sharedArray("out", 128)),
      seen("out-of-bounds", {access(AccessKind::Write, 9, "count[k]")}, sharedArray("count", 128)),
      raceOf("count[t]", "count[t - d]", "count")};
  noteFollowing(findings);
  EXPECT_THAT(findings[0].notes, IsEmpty());
  EXPECT_THAT(findings[1].notes, IsEmpty());
}

TEST(Consequences, TellAMemberFromTheOperatorOfItsObject) {
  std::vector<Finding> findings{
      seen("out-of-bounds", {access(AccessKind::Write, 8, "v.data[v.n]")}, sharedArray("v.data", 128)),
      seen("out-of-bounds", {access(AccessKind::Write, 9, "to[v[k]]")}, sharedArray("to", 128)),
      raceOf("v[0]", "v[0]", "v")};
  noteFollowing(findings);
  EXPECT_THAT(findings[0].notes, IsEmpty());
  EXPECT_THAT(findings[1].notes, SizeIs(1));
}

TEST(Consequences, LeaveOutThatTheSameValueIsWrittenOutsideOfAnArray) {
  Finding note =
      seen("race-warp", {access(AccessKind::Write, 8, "to[n]"), access(AccessKind::Write, 8, "to[n]")},
           sharedArray("to", 128));
  note.severity = Severity::Note;
  note.sameValue = true;
  Finding elsewhere = note;
  elsewhere.where = at("k.cu", 9, 3, 9);
  std::vector<Finding> findings{
      note, seen("out-of-bounds", {access(AccessKind::Write, 8, "to[n]")}, sharedArray("to", 128)),
      elsewhere};
  dropSameValuesBesideRaces(findings);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].rule, "out-of-bounds");
  EXPECT_EQ(findings[1].where, elsewhere.where);
}

TEST(Consequences, PointFromABarrierToTheRaceForWhatDecides) {
  Finding barrier = seen("barrier-divergence", {access(AccessKind::Read, 9, "")}, {});
  barrier.reason = "the witness leans on the content of `size`, which the kernel writes, at line 6";
  std::vector<Finding> findings{barrier, raceOf("size[in]", "size[now & 1]", "size")};
  noteFollowing(findings);
  EXPECT_THAT(findings[0].notes, SizeIs(1));
}

TEST(Consequences, PointFromACopyOfUnwrittenMemoryToWhatWasWrittenPastIt) {
  MemoryFact array = sharedArray("to", 64);
  array.space = MemorySpace::Global;
  array.allocatedAt = at("k.cu", 20, 3, 9);
  Finding copy = seen("unwritten-output", {access(AccessKind::Read, 30, "")}, array);
  copy.kernel.clear();
  std::vector<Finding> findings{copy, seen("out-of-bounds", {access(AccessKind::Write, 8, "to[k]")}, array)};
  noteFollowing(findings);
  EXPECT_THAT(findings[0].notes, SizeIs(1));
}

TEST(Consequences, NameNoArrayByAnExpressionThatLeadsToIt) {
  std::vector<Finding> findings{
      seen("out-of-bounds", {access(AccessKind::Write, 5, "at(to, x)")}, sharedArray("at(to, x)", 128)),
      raceOf("at(to, x)", "at(from, x)", "at(from, x)")};
  noteOverruns(findings);
  ASSERT_THAT(findings[1].notes, SizeIs(1));
  EXPECT_THAT(findings[1].notes[0].message, HasSubstr("past the end of its array here, into another array"));
}

TEST(Consequences, PointFromOddAddressesToTheLocalArrayThatWasOverrun) {
  MemoryFact local = sharedArray("used", 4), global = sharedArray("in", 64);
  local.space = MemorySpace::Local;
  global.space = MemorySpace::Global;
  std::vector<Finding> findings{seen("misaligned", {access(AccessKind::Read, 4, "in[u]")}, global),
                                seen("out-of-bounds", {access(AccessKind::Write, 5, "used[c]")}, local),
                                seen("out-of-bounds", {access(AccessKind::Read, 6, "used[c]")}, local)};
  noteFollowing(findings);
  ASSERT_THAT(findings[0].notes, SizeIs(1));
  EXPECT_THAT(findings[0].notes[0].message, HasSubstr("outside of the local array `used`"));
  EXPECT_THAT(findings[1].notes, IsEmpty());
  EXPECT_THAT(findings[2].notes, IsEmpty());
}

TEST(Consequences, PointFromRacesToTheBarrierThatThreadsMiss) {
  std::vector<Finding> findings{raceOf("s[t]", "s[t + 1]", "s"),
                                seen("barrier-divergence", {access(AccessKind::Read, 9, "")}, {})};
  noteFollowing(findings);
  ASSERT_THAT(findings[0].notes, SizeIs(1));
  EXPECT_THAT(findings[0].notes[0].message, HasSubstr("do not come to the barrier"));
  findings[0].notes.clear();
  findings[1].kernel = "other()";
  noteFollowing(findings);
  EXPECT_THAT(findings[0].notes, IsEmpty());
}

TEST(Consequences, PointFromUnwrittenMemoryToTheHangOrTheCopyThatFailed) {
  MemoryFact array = sharedArray("to", 64);
  array.space = MemorySpace::Global;
  array.allocatedAt = at("k.cu", 20, 3, 9);
  Finding copy = seen("unwritten-output", {access(AccessKind::Read, 30, "")}, array);
  copy.kernel.clear();
  std::vector<Finding> findings{copy, seen("hang", {access(AccessKind::Read, 8, "")}, {})};
  noteFollowing(findings);
  ASSERT_THAT(findings[0].notes, SizeIs(1));
  EXPECT_THAT(findings[0].notes[0].message, HasSubstr("`k()` did not come to its end"));

  Finding failed = seen("wrong-space", {access(AccessKind::Read, 25, "")}, array);
  failed.kernel.clear();
  findings = {seen("uninitialized-read", {access(AccessKind::Read, 8, "to[i]")}, array), failed};
  noteFollowing(findings);
  ASSERT_THAT(findings[0].notes, SizeIs(1));
  EXPECT_THAT(findings[0].notes[0].message, HasSubstr("fails here"));
}

} // namespace
} // namespace kcheck::test
