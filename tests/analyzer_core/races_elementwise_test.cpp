// Race questions on one-dimensional kernels: elements, counters, scopes, strides. Each right one with its
// wrong twin.
#include "race_questions.h"

namespace kcheck::analyzer {
namespace {

// ---- one-dimensional element-wise kernels

TEST(Elementwise, FixedLaunch) {
  KernelBuilder k;
  vectorAdd(k, true);
  expectProved(k);
  expectNoAssumptions(k);
}

TEST(Elementwise, AnyLaunchNamesItsAssumption) {
  KernelBuilder k(anyLaunch1D());
  vectorAdd(k, true);
  expectProved(k);
  KernelAnswers a = k.answers();
  ASSERT_EQ(property(a, Property::RaceFree).assumptions.size(), 1u);
  EXPECT_NE(property(a, Property::RaceFree).assumptions[0].find("2^31 threads"), std::string::npos);
}

TEST(Elementwise, BlockIndexForgotten) {
  KernelBuilder k;
  k.write(k.global("z"), k.tid());
  KernelAnswers a = expectRace(k);
  ASSERT_FALSE(a.races.empty());
  EXPECT_EQ(a.races[0].scope, RaceScope::InterBlock);
  EXPECT_TRUE(a.races[0].witness.exact());
  EXPECT_EQ(a.races[0].witness.first.thread, a.races[0].witness.second.thread);
  EXPECT_NE(a.races[0].witness.first.block, a.races[0].witness.second.block);
}

TEST(Elementwise, BlockIndexForgottenOnAnyLaunch) {
  KernelBuilder k(anyLaunch1D());
  k.write(k.global("z"), k.tid());
  expectRace(k);
}

TEST(Elementwise, OneBlockNeedsNoBlockIndex) {
  KernelBuilder k(launch({1, 1, 1}, {128, 1, 1}));
  k.write(k.global("z"), k.tid());
  expectProved(k);
}

TEST(Elementwise, GridOfAnotherDimension) {
  KernelBuilder k(launch({4, 4, 1}, {32, 1, 1}));
  k.write(k.global("z"), k.gid());
  expectRace(k); // blocks that differ in y only
}

TEST(Elementwise, WideElementsOverlap) {
  KernelBuilder k;
  unsigned z = k.global("z");
  ModelAccess& a = k.access(AccessKind::Write, z, k.gid(), 4);
  a.size = k.number(8, 64).e;
  expectRace(k);
}

TEST(Elementwise, NeighbourInPlace) {
  KernelBuilder k;
  unsigned z = k.global("z");
  k.read(z, k.gid() + 1);
  k.write(z, k.gid());
  KernelAnswers a = expectRace(k);
  EXPECT_EQ(a.races[0].kind, RaceKind::ReadWrite);
  EXPECT_EQ(a.races[0].first->kind, AccessKind::Write);
}

TEST(Elementwise, NeighbourIntoAnotherArray) {
  KernelBuilder k(anyLaunch1D());
  unsigned x = k.global("x"), z = k.global("z");
  k.read(x, k.gid() + 1);
  k.write(z, k.gid());
  expectProved(k);
}

TEST(Counter, PlainUpdateRaces) {
  KernelBuilder k(anyLaunch1D());
  unsigned c = k.global("c");
  k.read(c, k.number(0));
  k.write(c, k.number(0), k.unknown("v", "value loaded at line 10"));
  KernelAnswers a = expectRace(k);
  bool inBlock = false, betweenBlocks = false;
  for (const RaceResult& r : a.races) {
    inBlock |= r.scope == RaceScope::InterWarp;
    betweenBlocks |= r.scope == RaceScope::InterBlock;
  }
  EXPECT_TRUE(inBlock && betweenBlocks) << summary(a);
}

TEST(Counter, AtomicUpdateIsFine) {
  KernelBuilder k(anyLaunch1D());
  k.atomic(k.global("c"), k.number(0));
  expectProved(k);
}

TEST(Counter, AtomicAgainstPlain) {
  KernelBuilder k;
  unsigned c = k.global("c");
  k.atomic(c, k.number(0));
  k.read(c, k.number(0));
  KernelAnswers a = expectRace(k);
  EXPECT_EQ(a.races[0].kind, RaceKind::AtomicPlain);
}

TEST(Scopes, BlockAtomicsOnWhatAllBlocksShare) {
  KernelBuilder k;
  k.atomic(k.global("c"), k.number(0), AtomicScope::Block);
  KernelAnswers a = expectRace(k);
  ASSERT_EQ(a.races.size(), 1u);
  EXPECT_EQ(a.races[0].scope, RaceScope::InterBlock);
  EXPECT_TRUE(a.races[0].scopeTooNarrow);
}

TEST(Scopes, BlockAtomicsOnWhatABlockOwns) {
  KernelBuilder k(anyLaunch1D());
  k.atomic(k.global("c"), k.bid(), AtomicScope::Block);
  expectProved(k);
}

TEST(Scopes, BlockAtomicsInSharedMemory) {
  KernelBuilder k;
  k.atomic(k.shared("bins"), k.number(3), AtomicScope::Block);
  expectProved(k);
}

TEST(Scopes, OneNarrowSideIsEnough) {
  KernelBuilder k;
  unsigned c = k.global("c");
  k.atomic(c, k.number(0), AtomicScope::System);
  expectProved(k);
  k.atomic(c, k.number(0), AtomicScope::Block);
  expectRace(k);
}

// ---- strides

void gridStride(KernelBuilder& k, Ix stride) {
  Ix i = k.gid() + k.counter("k") * stride;
  k.where(i < k.param("n"));
  k.write(k.global("c"), i);
}

TEST(Strides, GridStride) {
  KernelBuilder k;
  gridStride(k, k.number(8 * 128));
  expectProved(k);
}

TEST(Strides, GridStrideOnAnyLaunch) {
  KernelBuilder k(anyLaunch1D());
  gridStride(k, k.dim().umul(k.grid()));
  expectProved(k);
}

TEST(Strides, StrideOfOneBlock) {
  KernelBuilder k(anyLaunch1D());
  gridStride(k, k.dim());
  expectRace(k);
}

TEST(Strides, FixedStrideOfOneBlock) {
  KernelBuilder k;
  gridStride(k, k.number(128));
  expectRace(k);
}

TEST(Strides, StartWithoutBlock) {
  KernelBuilder k(anyLaunch1D());
  Ix i = k.tid() + k.counter("k") * k.dim().umul(k.grid());
  k.where(i < k.param("n"));
  k.write(k.global("c"), i);
  expectRace(k);
}

TEST(Strides, ChunksOfEachThread) {
  KernelBuilder k(anyLaunch1D());
  Ix j = k.counter("j");
  k.where(j < 16);
  k.write(k.global("c"), k.gid() * 16 + j);
  expectProved(k);
}

TEST(Strides, ChunksThatOverlapByOne) {
  KernelBuilder k(anyLaunch1D());
  Ix j = k.counter("j");
  k.where(j <= 16);
  k.write(k.global("c"), k.gid() * 16 + j);
  expectRace(k);
}

TEST(Strides, ChunksOfSymbolicSize) {
  KernelBuilder k(anyLaunch1D());
  Ix j = k.counter("j"), chunk = k.param("chunk");
  k.where(j < chunk);
  k.write(k.global("c"), k.gid() * chunk + j);
  expectProved(k);
}

TEST(Strides, ChunksOfSymbolicSizeOverlap) {
  KernelBuilder k;
  Ix j = k.counter("j"), chunk = k.param("chunk");
  k.where(j <= chunk);
  k.write(k.global("c"), k.gid() * chunk + j);
  expectRace(k);
}

TEST(Strides, SymbolicStrideMayBeZero) {
  KernelBuilder k;
  k.write(k.global("c"), k.gid() * k.param("stride"));
  expectPossible(k, "a step `stride` of 0");
}

TEST(Strides, PositiveSymbolicStride) {
  KernelBuilder k(anyLaunch1D());
  Ix stride = k.param("stride");
  k.where(stride > 0);
  k.write(k.global("c"), k.gid() * stride);
  expectProved(k);
}

} // namespace
} // namespace kcheck::analyzer
