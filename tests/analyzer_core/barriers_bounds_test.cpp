// Barrier and bounds questions on kernels built by hand: each right one with its wrong twin.
#include "kernel_builder.h"

namespace kcheck::analyzer {
namespace {

using testing::anyLaunch1D;
using testing::Ix;
using testing::KernelBuilder;
using testing::launch;
using testing::property;

// ---- barriers

KernelAnswers barrierUnder(KernelBuilder& k, Ix condition, BarrierReach reach = BarrierReach::Block) {
  BarrierControl control;
  control.barrier = {"k.cu", 20, 5, 0};
  control.branch = {"k.cu", 18, 3, 0};
  control.reach = reach;
  control.reached = k.active;
  control.condition = condition.e;
  k.model.barriers.push_back(control);
  return k.answers();
}

void expectUniform(KernelBuilder& k, Ix condition, BarrierReach reach = BarrierReach::Block) {
  KernelAnswers a = barrierUnder(k, condition, reach);
  PropertyResult p = property(a, Property::BarriersUniform);
  EXPECT_EQ(p.answer, Answer::Proved) << p.reason;
  EXPECT_TRUE(a.divergences.empty());
}

KernelAnswers expectDivergent(KernelBuilder& k, Ix condition, BarrierReach reach = BarrierReach::Block) {
  KernelAnswers a = barrierUnder(k, condition, reach);
  EXPECT_EQ(property(a, Property::BarriersUniform).answer, Answer::Refuted)
      << property(a, Property::BarriersUniform).reason;
  EXPECT_EQ(a.divergences.size(), 1u);
  return a;
}

TEST(Barriers, UniformConditions) {
  KernelBuilder k(anyLaunch1D());
  expectUniform(k, k.param("n") > 3);
  expectUniform(k, k.bid() < k.param("n"));
  expectUniform(k, k.data("flags", k.bid()) == 1);
}

TEST(Barriers, ThreadDependentCondition) {
  KernelBuilder k(anyLaunch1D());
  KernelAnswers a = expectDivergent(k, k.tid() < k.param("n"));
  const DivergenceResult& d = a.divergences[0];
  EXPECT_EQ(d.control->branch.line, 18u);
  EXPECT_EQ(d.witness.first.block, d.witness.second.block);
  EXPECT_NE(d.witness.first.thread, d.witness.second.thread);
}

TEST(Barriers, EarlyReturnOfIdleThreads) {
  KernelBuilder k;
  expectDivergent(k, k.gid() < k.param("n"));
  KernelBuilder exact;
  exact.fact(exact.param("n") == 128 * 8); // the launch covers the array exactly
  expectUniform(exact, exact.gid() < exact.param("n"));
  KernelBuilder byBlocks;
  byBlocks.fact(byBlocks.param("n") == 128 * 7);
  expectUniform(byBlocks, byBlocks.gid() < byBlocks.param("n"));
  KernelBuilder odd;
  odd.fact(odd.param("n") == 1000);
  expectDivergent(odd, odd.gid() < odd.param("n"));
}

TEST(Barriers, ConditionTrueForAllThreads) {
  KernelBuilder k(anyLaunch1D());
  expectUniform(k, k.tid() < k.dim());
  KernelBuilder fixed;
  expectUniform(fixed, fixed.tid() < 128);
  expectDivergent(fixed, fixed.tid() < 127);
}

TEST(Barriers, WarpUniformConditionIsFineForWarps) {
  KernelBuilder k;
  expectUniform(k, (k.tid() >> 5) == 0, BarrierReach::Warp);
  KernelBuilder halves;
  expectDivergent(halves, (halves.tid() >> 4) == 0, BarrierReach::Warp);
}

TEST(Barriers, WarpUniformConditionIsNoneForBlocks) {
  KernelBuilder k;
  expectDivergent(k, (k.tid() >> 5) == 0);
}

TEST(Barriers, GridBarriersNeedAllBlocks) {
  KernelBuilder k;
  expectDivergent(k, k.bid() < 4, BarrierReach::Grid);
  KernelBuilder uniform;
  expectUniform(uniform, uniform.param("n") > 4, BarrierReach::Grid);
}

TEST(Barriers, OnlyThoseThatComeThatFarCount) {
  KernelBuilder k;
  k.where(k.tid() == 0); // one thread is never divergent from itself
  expectUniform(k, k.data("flags", k.tid()) == 1);
}

TEST(Barriers, UnknownConditionIsPossible) {
  KernelBuilder k;
  KernelAnswers a = barrierUnder(k, k.unknown("v", "value loaded at line 15") > 0);
  PropertyResult p = property(a, Property::BarriersUniform);
  EXPECT_EQ(p.answer, Answer::Unknown);
  EXPECT_NE(p.reason.find("line 15"), std::string::npos) << p.reason;
  ASSERT_EQ(a.divergences.size(), 1u);
  EXPECT_FALSE(a.divergences[0].witness.exact());
}

TEST(Barriers, GapsForbidAProof) {
  KernelBuilder k;
  k.model.gaps.push_back({{"k.cu", 5, 1, 0}, "a barrier behind a function pointer", true, true, true});
  KernelAnswers a = barrierUnder(k, k.param("n") > 3);
  EXPECT_EQ(property(a, Property::BarriersUniform).answer, Answer::Unknown);
}

// ---- bounds

void expectInside(KernelBuilder& k, bool arithmetic = true) {
  KernelAnswers a = k.answers();
  PropertyResult p = property(a, Property::InBounds);
  EXPECT_EQ(p.answer, Answer::Proved) << p.reason;
  EXPECT_TRUE(a.bounds.empty());
  if (arithmetic) {
    EXPECT_EQ(a.counters.integers + a.counters.bitVectors, 0u);
  }
}

KernelAnswers expectOutside(KernelBuilder& k) {
  KernelAnswers a = k.answers();
  EXPECT_EQ(property(a, Property::InBounds).answer, Answer::Refuted)
      << property(a, Property::InBounds).reason;
  EXPECT_FALSE(a.bounds.empty());
  return a;
}

TEST(Bounds, GuardedVector) {
  KernelBuilder k;
  k.where(k.gid() < 1000);
  k.write(k.global("z", 4000), k.gid());
  expectInside(k);
}

TEST(Bounds, UnguardedVector) {
  KernelBuilder k;
  k.write(k.global("z", 4000), k.gid());
  KernelAnswers a = expectOutside(k);
  const Witness& w = a.bounds[0].witness;
  EXPECT_GE(w.first.offset + w.first.bytes, 4001);
  EXPECT_TRUE(w.exact());
  EXPECT_EQ(w.first.block.x * 128 + w.first.thread.x, std::uint32_t(w.first.offset / 4));
}

TEST(Bounds, GuardOffByOne) {
  KernelBuilder k;
  k.where(k.gid() <= 1000);
  k.write(k.global("z", 4000), k.gid());
  expectOutside(k);
}

TEST(Bounds, NeighboursAtBothEnds) {
  KernelBuilder k;
  k.where(k.gid() > 0 && k.gid() < 999);
  unsigned x = k.global("x", 4000);
  k.read(x, k.gid() - 1);
  k.read(x, k.gid() + 1);
  expectInside(k);
  KernelBuilder before;
  before.where(before.gid() < 999);
  before.read(before.global("x", 4000), before.gid() - 1);
  KernelAnswers a = expectOutside(before);
  EXPECT_EQ(a.bounds[0].witness.first.offset, -4);
}

TEST(Bounds, LastElementIsWider) {
  KernelBuilder k;
  k.where(k.gid() < 1000);
  ModelAccess& a = k.access(AccessKind::Write, k.global("z", 4000), k.gid());
  a.size = k.number(8, 64).e;
  expectOutside(k);
}

TEST(Bounds, TileFitsExactly) {
  for (std::uint64_t bytes : {32 * 33 * 4, 32 * 32 * 4}) {
    KernelBuilder k(launch({1, 1, 1}, {32, 32, 1}));
    k.write(k.shared("tile", bytes), k.tid(1) * 33 + k.tid(0));
    if (bytes == 32 * 33 * 4)
      expectInside(k);
    else
      expectOutside(k);
  }
}

TEST(Bounds, DynamicSizeByParameter) {
  for (bool guarded : {true, false}) {
    KernelBuilder k(anyLaunch1D());
    Ix n = k.param("n", 1, 1 << 20);
    unsigned z = k.global("z");
    k.model.objects[z].symbolicBytes = (n.sext(64) * 4).e;
    if (guarded) k.where(k.gid() < n);
    k.write(z, k.gid());
    if (guarded)
      expectInside(k);
    else
      expectOutside(k);
  }
}

TEST(Bounds, MatrixWithSymbolicExtents) {
  for (bool guarded : {true, false}) {
    KernelBuilder k(launch({16, 16, 1}, {16, 16, 1}));
    Ix rows = k.param("rows", 1, 4096), columns = k.param("columns", 1, 4096);
    unsigned m = k.global("m");
    k.model.objects[m].symbolicBytes = (rows.sext(64) * columns.sext(64) * 4).e;
    k.where(k.gid(0) < columns);
    if (guarded) k.where(k.gid(1) < rows);
    k.write(m, k.gid(1) * columns + k.gid(0));
    if (guarded)
      expectInside(k);
    else
      expectOutside(k);
  }
}

TEST(Bounds, SharedArrayOfTheBlock) {
  KernelBuilder k(anyLaunch1D());
  unsigned s = k.shared("s");
  k.model.objects[s].symbolicBytes = (k.dim().zext(64) * 4).e;
  k.write(s, k.tid());
  expectInside(k);
  KernelBuilder wrong(anyLaunch1D());
  unsigned t = wrong.shared("s");
  wrong.model.objects[t].symbolicBytes = (wrong.dim().zext(64) * 4).e;
  wrong.write(t, wrong.tid() + 1);
  expectOutside(wrong);
}

TEST(Bounds, MaskedIndexOfData) {
  KernelBuilder k;
  k.atomic(k.shared("bins", 64 * 4), k.data("x", k.gid()) & 63);
  expectInside(k);
  KernelBuilder wrong;
  wrong.atomic(wrong.shared("bins", 60 * 4), wrong.data("x", wrong.gid()) & 63);
  expectOutside(wrong);
}

TEST(Bounds, UnknownIndexIsPossible) {
  KernelBuilder k;
  k.read(k.global("x", 400), k.unknown("m", "value loaded at line 9", 0, 1000));
  KernelAnswers a = k.answers();
  PropertyResult p = property(a, Property::InBounds);
  EXPECT_EQ(p.answer, Answer::Unknown);
  EXPECT_NE(p.reason.find("line 9"), std::string::npos);
}

TEST(Bounds, UnknownSizeIsSaid) {
  KernelBuilder k;
  k.read(k.global("x"), k.gid());
  PropertyResult p = property(k.answers(), Property::InBounds);
  EXPECT_EQ(p.answer, Answer::Unknown);
  EXPECT_EQ(p.reason, "the size of `x` is not known");
}

TEST(Bounds, WrappedByteIndex) {
  KernelBuilder k(launch({1, 1, 1}, {512, 1, 1}));
  k.read(k.global("x", 256 * 4), k.tid().trunc(8).zext(32));
  expectInside(k);
  KernelBuilder wrong(launch({1, 1, 1}, {512, 1, 1}));
  wrong.read(wrong.global("x", 255 * 4), wrong.tid().trunc(8).zext(32));
  expectOutside(wrong);
}

TEST(SafeSites, AreThoseWithoutDoubt) {
  KernelBuilder k;
  unsigned z = k.global("z", 4096), bad = k.global("bad", 4096), small = k.global("small", 400);
  k.write(z, k.gid());           // site 0: safe
  k.write(bad, k.tid());         // site 1: races between blocks
  k.read(small, k.gid());        // site 2: out of bounds
  k.atomic(bad, k.number(1023)); // site 3: apart from site 1, safe
  EXPECT_EQ(k.answers().safeSites, (std::set<SiteId>{0, 3}));
}

} // namespace
} // namespace kcheck::analyzer
