// Race questions on matrices, shared memory, reductions and warps. Each right one with its wrong twin.
#include "race_questions.h"

namespace kcheck::analyzer {
namespace {

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

} // namespace
} // namespace kcheck::analyzer
