// Race questions that lean on memory, on pointers that are not followed, on cases and on time.
#include "race_questions.h"

namespace kcheck::analyzer {
namespace {

// ---- data-dependent indices

TEST(Data, ScatterThroughAnIndexArray) {
  KernelBuilder k;
  k.write(k.global("out"), k.data("index", k.gid()));
  KernelAnswers a = expectRace(k);
  EXPECT_TRUE(a.races[0].witness.exact()) << summary(a);
}

TEST(Data, ScatterThroughAPermutation) {
  KernelBuilder k;
  k.context.function("index", 32)->injective = true;
  k.write(k.global("out"), k.data("index", k.gid()));
  expectProved(k);
}

TEST(Data, UnknownIndexIsPossibleAndSaysWhy) {
  KernelBuilder k;
  k.write(k.global("out"), k.unknown("m", "value loaded from `a` at line 9"));
  KernelAnswers a = k.answers();
  PropertyResult p = property(a, Property::RaceFree);
  EXPECT_EQ(p.answer, Answer::Unknown);
  ASSERT_FALSE(a.races.empty());
  EXPECT_FALSE(a.races[0].witness.exact());
  EXPECT_EQ(a.races[0].witness.causes[0].text, "value loaded from `a` at line 9");
  EXPECT_NE(p.reason.find("line 9"), std::string::npos);
}

TEST(Data, ApproximationThatDoesNotMatterLeavesTheWitnessExact) {
  KernelBuilder k;
  Ix m = k.unknown("m", "value loaded at line 9");
  k.when(m == 3 || k.tid() < 64, [&] { k.write(k.global("out"), k.number(7)); });
  KernelAnswers a = expectRace(k);
  EXPECT_TRUE(a.races[0].witness.exact()) << summary(a);
}

TEST(Data, BoundedUnknownStaysApart) {
  KernelBuilder k;
  Ix m = k.unknown("m", "value loaded at line 9", 0, 15);
  k.write(k.global("out"), k.gid() * 16 + m);
  expectProved(k);
}

// ---- same values, unknown objects, gaps

TEST(SameValue, ConstantFlag) {
  KernelBuilder k;
  k.write(k.global("found"), k.number(0), k.number(1));
  KernelAnswers a = k.answers();
  ASSERT_FALSE(a.races.empty());
  for (const RaceResult& r : a.races) EXPECT_TRUE(r.sameValue);
  PropertyResult p = property(a, Property::RaceFree);
  EXPECT_EQ(p.answer, Answer::Unknown); // neither clean nor harmful
  EXPECT_EQ(p.reason, "line 10: several threads write the same value without order");
}

TEST(SameValue, UnknownValueKeepsAnExactWitness) {
  KernelBuilder k;
  k.write(k.global("total"), k.number(0), k.unknown("sum", "the content of `slots` at line 9"));
  KernelAnswers a = expectRace(k);
  EXPECT_FALSE(a.races[0].sameValue);
  EXPECT_TRUE(a.races[0].witness.exact());
}

TEST(SameValue, ValueOfTheThread) {
  KernelBuilder k;
  k.write(k.global("last"), k.number(0), k.tid());
  KernelAnswers a = expectRace(k);
  EXPECT_FALSE(a.races[0].sameValue);
  EXPECT_NE(a.races[0].witness.first.stored, a.races[0].witness.second.stored);
}

TEST(SameValue, ValueDecidedByTheAddress) {
  KernelBuilder k(launch({1, 1, 1}, {64, 1, 1}));
  k.write(k.global("half"), k.tid() >> 1, (k.tid() >> 1) * 3);
  KernelAnswers a = k.answers();
  ASSERT_FALSE(a.races.empty());
  EXPECT_TRUE(a.races[0].sameValue) << summary(a);
}

TEST(SameValue, ProductOfTheIndex) {
  KernelBuilder k(launch({4, 1, 1}, {64, 1, 1}));
  k.write(k.global("squares"), k.tid(), k.tid() * k.tid());
  KernelAnswers a = k.answers();
  ASSERT_FALSE(a.races.empty());
  for (const RaceResult& r : a.races) EXPECT_TRUE(r.sameValue) << summary(a);
}

TEST(SameValue, ProductOfAnotherNumber) {
  KernelBuilder k(launch({4, 1, 1}, {64, 1, 1}));
  k.write(k.global("squares"), k.tid(), k.gid() * k.tid());
  EXPECT_FALSE(expectRace(k).races[0].sameValue);
}

TEST(SameValue, LeftOpenIsADoubt) {
  KernelBuilder k(launch({4, 1, 1}, {64, 1, 1}));
  k.write(k.global("squares"), k.tid(), (k.tid() * k.tid() * 5 + (k.gid() & 63) * 3) >> 1);
  Limits none;
  none.useSolver = false;
  KernelAnswers a = k.answers(none);
  ASSERT_FALSE(a.races.empty());
  EXPECT_FALSE(a.races[0].sameValue);
  EXPECT_FALSE(a.races[0].witness.exact()) << summary(a);
}

TEST(Objects, DifferentArraysDoNotMeet) {
  KernelBuilder k;
  k.write(k.global("a"), k.gid());
  k.read(k.global("b"), k.number(0));
  expectProved(k);
}

TEST(Objects, OneArrayUnderTwoNamesDoes) {
  KernelBuilder k;
  unsigned a = k.global("a");
  k.write(a, k.gid());
  k.read(a, k.number(0));
  expectRace(k);
}

TEST(Objects, UnknownPointerIsADoubt) {
  KernelBuilder k;
  unsigned a = k.global("a"), u = k.global("?");
  k.model.objects[u].isUnknown = true;
  k.write(a, k.gid());
  k.read(u, k.number(0));
  KernelAnswers answers = k.answers();
  PropertyResult p = property(answers, Property::RaceFree);
  EXPECT_EQ(p.answer, Answer::Unknown);
  EXPECT_NE(p.reason.find("line 11"), std::string::npos) << p.reason;
}

TEST(Objects, UnknownPointerOnlyRead) {
  KernelBuilder k;
  unsigned a = k.global("a"), u = k.global("?");
  k.model.objects[u].isUnknown = true;
  k.read(a, k.gid());
  k.read(u, k.number(0));
  expectProved(k);
}

TEST(Objects, LocalMemoryIsNobodyElses) {
  KernelBuilder k;
  k.write(k.array("stack", MemorySpace::Local), k.number(0));
  expectProved(k);
}

TEST(Gaps, ForbidAProof) {
  KernelBuilder k;
  vectorAdd(k, true);
  k.model.gaps.push_back({{"k.cu", 17, 1, 0}, "inline assembly is not understood", true, false, true});
  KernelAnswers a = k.answers();
  PropertyResult p = property(a, Property::RaceFree);
  EXPECT_EQ(p.answer, Answer::Unknown);
  EXPECT_EQ(p.reason, "line 17: inline assembly is not understood");
  EXPECT_TRUE(a.safeSites.empty());
}

TEST(Barriers, ADivergentBarrierOrdersNothing) {
  KernelBuilder k(launch({1, 1, 1}, {64, 1, 1}));
  unsigned s = k.shared("s");
  k.write(s, k.tid());
  k.barrier();
  k.model.blockPhases.back().where = {"k.cu", 20, 5, 0};
  k.write(s, k.number(0), k.tid());
  BarrierControl control;
  control.barrier = {"k.cu", 20, 5, 0};
  control.reached = k.context.boolean(true);
  control.condition = (k.tid() < 32).e;
  k.model.barriers.push_back(control);
  KernelAnswers a = k.answers();
  EXPECT_EQ(property(a, Property::BarriersUniform).answer, Answer::Refuted);
  EXPECT_TRUE(a.races.empty()); // one mistake, one finding
  EXPECT_EQ(property(a, Property::RaceFree).answer, Answer::Unknown);
}

TEST(Cases, StrideFromATable) {
  // s[tid] += s[tid + table[k]] for tid < table[k], the table looked up by a chain of choices
  for (bool guarded : {true, false}) {
    KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
    unsigned s = k.shared("s");
    Symbol* step = k.context.symbol("step", 32, SymbolKind::LoopCounter, 0, 7);
    step->varies = Varies::ByBlock;
    Ix i = k.of(k.context.of(step)), stride = k.number(1);
    for (int v = 0; v < 7; ++v) stride = k.of(k.context.ite((i == v).e, k.number(128 >> v).e, stride.e));
    if (guarded) k.where((k.tid() & (stride * 2 - 1)) == 0);
    k.read(s, k.tid() + stride);
    k.write(s, k.tid());
    if (guarded)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Limits, NoTimeIsNoVerdict) {
  KernelBuilder k;
  k.write(k.global("z"), k.gid() * k.gid() - k.param("n") * k.tid());
  analyzer::Limits limits;
  limits.kernelSeconds = 0;
  EXPECT_EQ(property(k.answers(limits), Property::RaceFree).answer, Answer::Unknown);
}

TEST(Witnesses, NameWhatTheyNeed) {
  KernelBuilder k;
  Ix n = k.param("n", 1, 1000000), j = k.counter("j (line 8)");
  k.where(j < n);
  k.write(k.global("z"), j);
  KernelAnswers a = expectRace(k);
  const Witness& w = a.races[0].witness;
  EXPECT_EQ(w.blockDim, (Dim3{128, 1, 1}));
  EXPECT_EQ(w.first.offset, w.second.offset);
  EXPECT_EQ(w.first.bytes, 4);
  ASSERT_EQ(w.shared.size(), 1u);
  EXPECT_EQ(w.shared[0].first, "n");
  ASSERT_EQ(w.first.values.size(), 1u);
  EXPECT_EQ(w.first.values[0].first, "j (line 8)");
  EXPECT_EQ(w.first.thread, (Dim3{0, 0, 0}));
  EXPECT_EQ(w.second.thread.volume(), 0u); // (1,0,0) or the like: small
}

} // namespace
} // namespace kcheck::analyzer
