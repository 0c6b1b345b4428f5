// Race questions on kernels built by hand: each right one with its wrong twin.
#include "kernel_builder.h"

namespace kcheck::analyzer {
namespace {

using testing::anyLaunch;
using testing::anyLaunch1D;
using testing::blocksOf;
using testing::Ix;
using testing::KernelBuilder;
using testing::launch;
using testing::property;

std::string summary(const KernelAnswers& a) {
  PropertyResult p = property(a, Property::RaceFree);
  std::string text = "races " + std::to_string(a.races.size()) + " reason: " + p.reason;
  for (const RaceResult& r : a.races) {
    auto thread = [](const WitnessThread& t) {
      return " thread " + std::to_string(t.thread.x) + "," + std::to_string(t.thread.y) + "," +
             std::to_string(t.thread.z) + " of block " + std::to_string(t.block.x) + "," +
             std::to_string(t.block.y);
    };
    text += "\n  line " + std::to_string(r.first->where.line) + " and " +
            std::to_string(r.second->where.line) + thread(r.witness.first) + thread(r.witness.second) +
            (r.sameValue ? " same value" : "");
    for (const Cause& cause : r.witness.causes) text += " leaning on " + cause.text;
  }
  for (const std::string& s : p.assumptions) text += "\n  assuming " + s;
  const Counters& c = a.counters;
  text += "\n  questions " + std::to_string(c.questions) + " arithmetic " + std::to_string(c.arithmetic) +
          " search " + std::to_string(c.search) + " integers " + std::to_string(c.integers) +
          " bit-vectors " + std::to_string(c.bitVectors) + " timeouts " + std::to_string(c.timeouts);
  return text;
}

/// How a proof may have been found.
enum class By { Arithmetic, Anything };

void expectProved(KernelBuilder& k, By by = By::Arithmetic) {
  KernelAnswers a = k.answers();
  EXPECT_EQ(property(a, Property::RaceFree).answer, Answer::Proved) << summary(a);
  if (by == By::Arithmetic) {
    EXPECT_EQ(a.counters.arithmetic, a.counters.questions) << summary(a);
  }
}

void expectNoAssumptions(KernelBuilder& k) {
  KernelAnswers a = k.answers();
  EXPECT_TRUE(property(a, Property::RaceFree).assumptions.empty()) << summary(a);
}

KernelAnswers expectRace(KernelBuilder& k) {
  KernelAnswers a = k.answers();
  EXPECT_EQ(property(a, Property::RaceFree).answer, Answer::Refuted) << summary(a);
  return a;
}

// ---- one-dimensional element-wise kernels

void vectorAdd(KernelBuilder& k, bool guarded) {
  unsigned x = k.global("x"), z = k.global("z");
  if (guarded) k.where(k.gid() < k.param("n"));
  k.read(x, k.gid());
  k.write(z, k.gid());
}

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
  expectRace(k);
}

TEST(Strides, PositiveSymbolicStride) {
  KernelBuilder k(anyLaunch1D());
  Ix stride = k.param("stride");
  k.where(stride > 0);
  k.write(k.global("c"), k.gid() * stride);
  expectProved(k);
}

// ---- two and three dimensions

void matrix(KernelBuilder& k, bool guardColumns) {
  Ix row = k.gid(1), column = k.gid(0), width = k.param("width");
  k.where(row < k.param("height"));
  if (guardColumns) k.where(column < width);
  k.write(k.global("m"), row * width + column);
}

TEST(Matrices, SymbolicPitch) {
  KernelBuilder k(launch({64, 64, 1}, {32, 8, 1}));
  matrix(k, true);
  expectProved(k);
}

TEST(Matrices, SymbolicPitchOnAnyLaunch) {
  KernelBuilder k({{0, 0, 1}, {0, 0, 1}});
  matrix(k, true);
  expectProved(k);
}

TEST(Matrices, UnguardedColumnsRunIntoTheNextRow) {
  KernelBuilder k(launch({64, 64, 1}, {32, 8, 1}));
  matrix(k, false);
  expectRace(k);
}

TEST(Matrices, ColumnMajor) {
  KernelBuilder k({{0, 0, 1}, {0, 0, 1}});
  Ix row = k.gid(1), column = k.gid(0), height = k.param("height");
  k.where(row < height && column < k.param("width"));
  k.write(k.global("m"), column * height + row);
  expectProved(k);
}

TEST(Matrices, WrongPitch) {
  KernelBuilder k(launch({64, 64, 1}, {32, 8, 1}));
  Ix row = k.gid(1), column = k.gid(0), width = k.param("width"), height = k.param("height");
  k.where(row < height && column < width);
  k.write(k.global("m"), row * height + column);
  expectRace(k);
}

TEST(Matrices, VolumeWithTwoPitches) {
  KernelBuilder k(anyLaunch());
  Ix x = k.gid(0), y = k.gid(1), z = k.gid(2), nx = k.param("nx"), ny = k.param("ny");
  k.where(x < nx && y < ny && z < k.param("nz"));
  k.write(k.global("v"), (z * ny + y) * nx + x);
  expectProved(k);
}

TEST(Matrices, VolumeWithOneGuardMissing) {
  KernelBuilder k(launch({4, 4, 4}, {8, 8, 8}));
  Ix x = k.gid(0), y = k.gid(1), z = k.gid(2), nx = k.param("nx"), ny = k.param("ny");
  k.where(x < nx && z < k.param("nz"));
  k.write(k.global("v"), (z * ny + y) * nx + x);
  expectRace(k);
}

TEST(Matrices, LinearThreadIndexInTwoDimensions) {
  KernelBuilder k({{0, 0, 1}, {1, 1, 1}});
  k.write(k.shared("s"), k.tid(0) + k.tid(1) * k.dim(0));
  expectProved(k);
}

TEST(Matrices, LinearThreadIndexWithTheWrongExtent) {
  KernelBuilder k({{16, 8, 1}, {1, 1, 1}});
  k.write(k.shared("s"), k.tid(0) + k.tid(1) * k.dim(1));
  expectRace(k);
}

TEST(Matrices, RowPerThread) {
  KernelBuilder k(anyLaunch1D());
  Ix j = k.counter("j"), columns = k.param("columns");
  k.where(k.gid() < k.param("rows") && j < columns);
  k.write(k.global("m"), k.gid() * columns + j);
  expectProved(k);
}

// ---- shared memory

TEST(Shared, SwapWithAndWithoutBarrier) {
  for (bool ordered : {true, false}) {
    KernelBuilder k(launch({1, 1, 1}, {4, 1, 1}));
    unsigned s = k.shared("s");
    k.write(s, k.tid());
    if (ordered) k.barrier();
    k.read(s, k.number(3) - k.tid());
    if (ordered)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Shared, TransposeTile) {
  for (bool ordered : {true, false}) {
    KernelBuilder k(launch({32, 32, 1}, {32, 32, 1}));
    unsigned tile = k.shared("tile"), out = k.global("out");
    k.write(tile, k.tid(1) * 33 + k.tid(0));
    if (ordered) k.barrier();
    k.read(tile, k.tid(0) * 33 + k.tid(1));
    k.write(out, (k.bid(0) * 32 + k.tid(1)) * 1024 + k.bid(1) * 32 + k.tid(0));
    if (ordered)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Shared, TileWithUnpaddedPitchByHand) {
  KernelBuilder k(launch({1, 1, 1}, {33, 31, 1}));
  k.write(k.shared("tile"), k.tid(1) * 32 + k.tid(0));
  expectRace(k);
}

TEST(Shared, TileRowsInSteps) {
  for (int step : {8, 4}) {
    KernelBuilder k(launch({32, 32, 1}, {32, 8, 1}));
    Ix j = k.counter("j", 3);
    k.write(k.shared("tile"), (k.tid(1) + j * step) * 33 + k.tid(0));
    if (step == 8)
      expectProved(k);
    else
      expectRace(k);
  }
}

void treeStep(KernelBuilder& k, bool guarded) {
  unsigned s = k.shared("s");
  Ix stride = k.param("stride", 1, 512);
  k.when(guarded ? k.tid() < stride : k.tid() >= 0, [&] {
    k.read(s, k.tid() + stride);
    k.read(s, k.tid());
    k.write(s, k.tid());
  });
}

TEST(Reductions, TreeStep) {
  KernelBuilder k({{0, 1, 1}, {1, 1, 1}});
  treeStep(k, true);
  expectProved(k);
}

TEST(Reductions, TreeStepWithoutGuard) {
  KernelBuilder k({{0, 1, 1}, {1, 1, 1}});
  treeStep(k, false);
  expectRace(k);
}

TEST(Reductions, InterleavedStep) {
  for (bool right : {true, false}) {
    KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
    unsigned s = k.shared("s");
    Ix step = k.param("s_", 1, 128);
    // tid % (2 * step) == 0: s[tid] += s[tid + step]
    k.where(k.tid() % (right ? step * 2 : step) == 0);
    k.read(s, k.tid() + step);
    k.write(s, k.tid());
    if (right)
      expectProved(k, By::Anything);
    else
      expectRace(k);
  }
}

TEST(Reductions, OnePartialPerBlock) {
  for (bool own : {true, false}) {
    KernelBuilder k(anyLaunch1D());
    unsigned out = k.global("out");
    k.when(k.tid() == 0, [&] { k.write(out, own ? k.bid() : k.number(0)); });
    if (own)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Reductions, LeaderElectedByParameter) {
  KernelBuilder k({{0, 1, 1}, {1, 1, 1}});
  k.when(k.tid() == k.param("leader"), [&] { k.write(k.shared("flag"), k.number(0)); });
  expectProved(k);
}

TEST(Reductions, TwoLeaders) {
  KernelBuilder k(launch({1, 1, 1}, {64, 1, 1}));
  unsigned flag = k.shared("flag");
  k.when(k.tid() == k.param("p"), [&] { k.write(flag, k.number(0), k.tid()); });
  k.when(k.tid() == k.param("q"), [&] { k.write(flag, k.number(0), k.tid()); });
  expectRace(k);
}

TEST(Reductions, HillisSteeleWithOneBuffer) {
  for (bool pingPong : {true, false}) {
    KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
    unsigned s = k.shared("s");
    Ix d = k.param("d", 1, 128), out = k.param("out", 0, 1);
    Ix in = k.number(1) - out;
    k.where(k.tid() >= d);
    k.read(s, (pingPong ? in * 256 : k.number(0)) + k.tid() - d);
    k.write(s, (pingPong ? out * 256 : k.number(0)) + k.tid());
    if (pingPong)
      expectProved(k, By::Anything);
    else
      expectRace(k);
  }
}

TEST(Warps, ValuesOfOneWarp) {
  KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
  k.when((k.tid() & 31) == 0, [&] { k.write(k.shared("partial"), k.tid() >> 5); });
  expectProved(k);
}

TEST(Warps, ValuesOfOneWarpByAnyLane) {
  KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
  k.when((k.tid() & 31) < 2, [&] { k.write(k.shared("partial"), k.tid() >> 5); });
  KernelAnswers a = expectRace(k);
  EXPECT_EQ(a.races[0].scope, RaceScope::IntraWarp);
}

TEST(Warps, WarpPhasesOrderTheLanes) {
  for (bool synchronised : {true, false}) {
    KernelBuilder k(launch({1, 1, 1}, {128, 1, 1}));
    unsigned s = k.shared("s");
    // s[tid] = ...; __syncwarp(); ... = s[tid ^ 1]
    k.write(s, k.tid());
    k.read(s, k.tid() ^ 1);
    if (synchronised) {
      k.model.warpPhases.resize(2);
      k.model.warpPhases[0].accesses = {k.model.blockPhases[0].accesses[0]};
      k.model.warpPhases[1].accesses = {k.model.blockPhases[0].accesses[1]};
      expectProved(k, By::Anything);
    } else {
      KernelAnswers a = expectRace(k);
      EXPECT_EQ(a.races[0].scope, RaceScope::IntraWarp);
    }
  }
}

TEST(Warps, WarpPhasesDoNotOrderOtherWarps) {
  KernelBuilder k(launch({1, 1, 1}, {128, 1, 1}));
  unsigned s = k.shared("s");
  k.write(s, k.tid());
  k.read(s, k.tid() ^ 32);
  k.model.warpPhases.resize(2);
  k.model.warpPhases[0].accesses = {k.model.blockPhases[0].accesses[0]};
  k.model.warpPhases[1].accesses = {k.model.blockPhases[0].accesses[1]};
  KernelAnswers a = expectRace(k);
  EXPECT_EQ(a.races[0].scope, RaceScope::InterWarp);
}

TEST(Warps, LaneSlotsInsideOneWarp) {
  // One slot per lane, warps of their own phases: a race between warps only.
  KernelBuilder k(launch({1, 1, 1}, {64, 1, 1}));
  k.write(k.shared("s"), k.tid() & 31);
  KernelAnswers a = expectRace(k);
  EXPECT_EQ(a.races[0].scope, RaceScope::InterWarp);
}

// ---- masks, shifts, modulo

TEST(Bits, RingOfExactlyTheBlock) {
  for (std::uint32_t threads : {32u, 64u}) {
    KernelBuilder k(launch({1, 1, 1}, {threads, 1, 1}));
    k.write(k.shared("ring"), (k.tid() + 5) & 31);
    if (threads == 32)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Bits, RotationByParameter) {
  for (std::uint32_t threads : {64u, 65u}) {
    KernelBuilder k(launch({1, 1, 1}, {threads, 1, 1}));
    Ix shift = k.param("shift", 0, 1000);
    k.write(k.shared("ring"), (k.tid() + shift) % 64);
    if (threads == 64)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Bits, RotationModuloTheBlock) {
  KernelBuilder k({{0, 1, 1}, {1, 1, 1}});
  Ix shift = k.param("shift", 0, 1000);
  k.write(k.shared("ring"), (k.tid() + shift) % k.dim());
  expectProved(k);
}

TEST(Bits, Butterfly) {
  KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
  Ix mask = k.param("mask", 1, 128);
  k.write(k.shared("s"), k.tid() ^ mask);
  expectProved(k);
}

TEST(Bits, ButterflyReadAndWrite) {
  KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
  Ix mask = k.param("mask", 1, 128);
  unsigned s = k.shared("s");
  k.read(s, k.tid() ^ mask);
  k.write(s, k.tid());
  expectRace(k);
}

TEST(Bits, ExchangeByTheLowerOfEachPair) {
  // Bitonic step: the thread whose partner is above it exchanges both.
  for (bool guarded : {true, false}) {
    KernelBuilder k(launch({1, 1, 1}, {64, 1, 1}));
    unsigned s = k.shared("s");
    Ix partner = k.tid() ^ 8;
    if (guarded) k.where(partner > k.tid());
    k.write(s, k.tid());
    k.write(s, partner);
    if (guarded)
      expectProved(k, By::Anything);
    else
      expectRace(k);
  }
}

TEST(Bits, RowAndColumnBySlices) {
  KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
  Ix row = k.tid() >> 4, column = k.tid() & 15;
  k.write(k.shared("tile"), row * 17 + column);
  expectProved(k);
}

TEST(Bits, RowAndColumnBySlicesThatLoseABit) {
  KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
  Ix row = k.tid() >> 5, column = k.tid() & 15;
  k.write(k.shared("tile"), row * 17 + column);
  expectRace(k);
}

TEST(Bits, QuotientAndRemainder) {
  for (int pitch : {12, 8}) {
    KernelBuilder k(launch({1, 1, 1}, {200, 1, 1}));
    k.write(k.shared("tile"), (k.tid() / 10) * pitch + k.tid() % 10);
    if (pitch == 12)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Bits, DisjointOr) {
  KernelBuilder k(launch({1, 1, 1}, {32, 8, 1}));
  k.write(k.shared("s"), (k.tid(1) << 5) | k.tid(0));
  expectProved(k);
  KernelBuilder overlapping(launch({1, 1, 1}, {32, 8, 1}));
  overlapping.write(overlapping.shared("s"), (overlapping.tid(1) << 4) | overlapping.tid(0));
  expectRace(overlapping);
}

TEST(Bits, ModuloOfTheGlobalIndex) {
  KernelBuilder k;
  k.write(k.global("bins"), k.gid() % 256);
  expectRace(k);
}

TEST(Bits, EvenAndOdd) {
  KernelBuilder k(anyLaunch1D());
  unsigned z = k.global("z");
  k.write(z, k.gid() * 2);
  k.read(z, k.gid() * 2 + 1);
  expectProved(k);
  KernelBuilder wrong(anyLaunch1D());
  unsigned w = wrong.global("z");
  wrong.write(w, wrong.gid() * 2);
  wrong.read(w, wrong.gid() * 2 + 2);
  expectRace(wrong);
}

// ---- wrap-around

TEST(Wrap, ByteIndex) {
  for (std::uint32_t threads : {256u, 512u}) {
    KernelBuilder k(launch({1, 1, 1}, {threads, 1, 1}));
    k.write(k.global("z"), k.tid().trunc(8).zext(32));
    if (threads == 256)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Wrap, ByteIndexOnAnyLaunch) {
  KernelBuilder k(anyLaunch1D());
  k.write(k.global("z"), k.gid().trunc(8).zext(32));
  expectRace(k);
}

TEST(Wrap, SignedByteIndex) {
  KernelBuilder k(launch({1, 1, 1}, {512, 1, 1}));
  k.write(k.global("z"), k.tid().trunc(8).sext(32));
  expectRace(k);
  KernelBuilder right(launch({1, 1, 1}, {256, 1, 1}));
  right.write(right.global("z"), right.tid().trunc(8).sext(32));
  expectProved(right, By::Anything);
}

TEST(Wrap, HalfWordIndex) {
  KernelBuilder k(launch({1024, 1, 1}, {128, 1, 1}));
  k.write(k.global("z"), k.gid().trunc(16).zext(32));
  expectRace(k); // 131072 threads
  KernelBuilder right(launch({512, 1, 1}, {128, 1, 1}));
  right.write(right.global("z"), right.gid().trunc(16).zext(32));
  expectProved(right);
}

TEST(Wrap, ByteArithmetic) {
  KernelBuilder k(launch({1, 1, 1}, {128, 1, 1}));
  Ix small = k.tid().trunc(8);
  k.write(k.global("z"), small.umul(small.lift(4)).zext(32));
  expectRace(k); // 4 * 64 wraps to 0
}

TEST(Wrap, UnsignedProductOfTheThread) {
  KernelBuilder k(launch({1, 1, 1}, {128, 1, 1}));
  k.write(k.global("z"), k.tid().umul(0x10000000).zext(64));
  expectRace(k); // sixteen different values
}

TEST(Wrap, UnsignedProductByAnOddNumberPermutes) {
  KernelBuilder k(launch({1, 1, 1}, {1024, 1, 1}));
  k.write(k.global("z"), k.tid().umul(-1640531527).zext(64));
  expectProved(k);
}

TEST(Wrap, UnsignedProductWithAParameterIsNamed) {
  KernelBuilder k;
  Ix stride = k.param("stride");
  k.where(stride > 0);
  k.write(k.global("z"), k.gid().umul(stride));
  KernelAnswers a = k.answers();
  PropertyResult p = property(a, Property::RaceFree);
  EXPECT_EQ(p.answer, Answer::Proved) << summary(a);
  ASSERT_FALSE(p.assumptions.empty());
  EXPECT_NE(p.assumptions[0].find("line 10"), std::string::npos) << p.assumptions[0];
}

TEST(Wrap, SignedProductNeedsNoAssumption) {
  KernelBuilder k;
  Ix stride = k.param("stride");
  k.where(stride > 0);
  k.write(k.global("z"), k.gid() * stride);
  expectProved(k);
  expectNoAssumptions(k);
}

TEST(Wrap, DifferenceBelowZero) {
  // (unsigned)(tid - 1): thread 0 wraps to 2^32 - 1, which nobody else has.
  KernelBuilder k(launch({1, 1, 1}, {128, 1, 1}));
  k.write(k.global("z"), k.tid().uadd(k.number(-1)).zext(64));
  expectProved(k);
}

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
