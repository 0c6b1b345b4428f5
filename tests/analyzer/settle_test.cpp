// Proofs for the launches that a run made: what their arguments show is used, and nothing beyond it.
#include "analyzed.h"
#include "analyzer/kernel_model.h"

#include <cstring>

namespace kcheck::analyzer {
namespace {

/// The bytes of a parameter.
template <class T> Argument valueOf(T value) {
  std::uint8_t bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  Argument argument;
  argument.passed.emplace();
  argument.passed->bytes.assign(std::begin(bytes), std::end(bytes));
  return argument;
}

/// A program's launches, put together by hand.
struct Launched {
  SeenLaunches seen;

  std::size_t allocation(std::uint64_t bytes) {
    Allocation made;
    made.name = "buffer";
    made.bytes = bytes;
    seen.allocations.push_back(made);
    return seen.allocations.size() - 1;
  }

  static PassedValue pointer(std::size_t allocation, std::int64_t offset) {
    PassedValue passed;
    passed.bytes.resize(8);
    passed.pointers.push_back({0, allocation, offset});
    return passed;
  }
  static Argument into(std::size_t allocation, std::int64_t offset = 0) {
    Argument argument;
    argument.allocation = allocation;
    argument.byteOffset = offset;
    argument.passed = pointer(allocation, offset);
    return argument;
  }

  void launch(const std::string& kernel, Dim3 grid, Dim3 block, std::vector<Argument> arguments) {
    Launch made;
    made.kernel = kernel;
    made.where = {"program.cu", 99, 1, 0};
    made.grid = grid;
    made.block = block;
    made.sharedBytes = 0;
    made.arguments = std::move(arguments);
    seen.launches.push_back(std::move(made));
  }
};

class Settled : public testing::Test {
protected:
  PropertyResult ask(const std::string& source, Property property) {
    const Analyzed analyzed(source, {}, run.seen);
    return analyzed.property("k", property);
  }
  bool isProved(const std::string& source, Property property) {
    const PropertyResult result = ask(source, property);
    if (result.answer == Answer::Proved) EXPECT_EQ(result.holdsFor, kLaunchesOfThisRun);
    return result.answer == Answer::Proved;
  }
  Launched run;
};

const std::string kPlain = R"(
#include <cuda_runtime.h>
extern "C" __global__ void k(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1;
}
)";

TEST_F(Settled, SizesOfTheRunProveBounds) {
  run.launch("k", {4, 1, 1}, {128, 1, 1}, {Launched::into(run.allocation(2000)), valueOf(500)});
  EXPECT_TRUE(isProved(kPlain, Property::InBounds));
}

TEST_F(Settled, OneElementTooManyIsAnError) {
  run.launch("k", {4, 1, 1}, {128, 1, 1}, {Launched::into(run.allocation(1996)), valueOf(500)});
  EXPECT_FALSE(isProved(kPlain, Property::InBounds));
  const Analyzed analyzed(kPlain, {}, run.seen);
  EXPECT_EQ(analyzed.findings("k"), std::vector<std::string>{"out-of-bounds@5 proved"});
}

TEST_F(Settled, EveryLaunchCounts) {
  run.launch("k", {4, 1, 1}, {128, 1, 1}, {Launched::into(run.allocation(2000)), valueOf(500)});
  run.launch("k", {4, 1, 1}, {128, 1, 1}, {Launched::into(run.allocation(2000)), valueOf(501)});
  EXPECT_FALSE(isProved(kPlain, Property::InBounds));
}

TEST_F(Settled, KernelsLaunchedInFurtherWaysStayOpen) {
  run.launch("k", {4, 1, 1}, {128, 1, 1}, {Launched::into(run.allocation(2000)), valueOf(500)});
  run.seen.incomplete.insert("k");
  EXPECT_FALSE(isProved(kPlain, Property::InBounds));
}

TEST_F(Settled, PointersThatLeadNowhereKnownStayOpen) {
  run.launch("k", {4, 1, 1}, {128, 1, 1}, {valueOf(std::uint64_t(0x1000)), valueOf(500)});
  EXPECT_FALSE(isProved(kPlain, Property::InBounds));
}

const std::string kShift = R"(
#include <cuda_runtime.h>
extern "C" __global__ void k(const float* from, float* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) to[i] = from[i + 1];
}
)";

TEST_F(Settled, OneBufferForTwoParametersIsSeen) {
  const std::size_t one = run.allocation(4096);
  run.launch("k", {4, 1, 1}, {256, 1, 1}, {Launched::into(one), Launched::into(one), valueOf(1024)});
  // Proved for any launch if pointers do not overlap; for this one that is known to be wrong.
  EXPECT_EQ(ask(kShift, Property::RaceFree).answer, Answer::Refuted);
  EXPECT_EQ(Analyzed(kShift, {}, run.seen).findings("k"), std::vector<std::string>{"race-global@5 proved"});
}

const std::string kDouble = R"(
#include <cuda_runtime.h>
extern "C" __global__ void k(const float* from, float* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = 2 * from[i];
}
)";

TEST_F(Settled, WorkInPlaceIsProvedForWhatItIs) {
  const std::size_t one = run.allocation(4096);
  run.launch("k", {4, 1, 1}, {256, 1, 1}, {Launched::into(one), Launched::into(one), valueOf(1024)});
  const PropertyResult races = ask(kDouble, Property::RaceFree);
  EXPECT_EQ(races.answer, Answer::Proved);
  EXPECT_EQ(races.holdsFor, kLaunchesOfThisRun);
  for (const std::string& assumption : races.assumptions) EXPECT_NE(assumption, kPointersApart);
}

TEST_F(Settled, HalvesOfOneBufferAreApart) {
  const std::size_t one = run.allocation(8192);
  run.launch("k", {4, 1, 1}, {256, 1, 1}, {Launched::into(one), Launched::into(one, 4096), valueOf(1024)});
  EXPECT_EQ(ask(kShift, Property::RaceFree).answer, Answer::Proved);
}

TEST_F(Settled, HalvesThatMeetInOneElementAreNot) {
  const std::size_t one = run.allocation(8192);
  run.launch("k", {4, 1, 1}, {256, 1, 1}, {Launched::into(one), Launched::into(one, 4092), valueOf(1025)});
  EXPECT_FALSE(isProved(kShift, Property::RaceFree));
}

const std::string kRows = R"(
#include <cuda_runtime.h>
struct View { float* data; int rows, columns, pitch; };
extern "C" __global__ void k(View view) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < view.columns && y < view.rows) view.data[y * view.pitch + x] = 1;
}
)";

struct View {
  void* data;
  int rows, columns, pitch;
};

Argument viewOf(std::size_t allocation, int rows, int columns, int pitch) {
  Argument argument = valueOf(View{nullptr, rows, columns, pitch});
  for (unsigned i = 0; i < 8; ++i) argument.passed->bytes[i].reset();
  argument.passed->pointers.push_back({0, allocation, 0});
  return argument;
}

TEST_F(Settled, MembersOfStructuresAreKnown) {
  run.launch("k", {4, 4, 1}, {16, 16, 1}, {viewOf(run.allocation(4 * 60 * 50), 50, 55, 60)});
  EXPECT_TRUE(isProved(kRows, Property::RaceFree));
  EXPECT_TRUE(isProved(kRows, Property::InBounds));
}

TEST_F(Settled, RowsThatOverlapAreNot) {
  run.launch("k", {4, 4, 1}, {16, 16, 1}, {viewOf(run.allocation(4 * 60 * 50), 50, 55, 54)});
  EXPECT_FALSE(isProved(kRows, Property::RaceFree));
}

TEST_F(Settled, LaunchesWithOtherMembersAreNotJoinedAway) {
  for (int pitch = 55; pitch < 65; ++pitch)
    run.launch("k", {4, 4, 1}, {16, 16, 1}, {viewOf(run.allocation(4 * 65 * 50), 50, 55, pitch)});
  EXPECT_FALSE(isProved(kRows, Property::RaceFree)); // the pitch is open then
}

const std::string kStep = R"(
#include <cuda_runtime.h>
extern "C" __global__ void k(float* a, int n, int step) {
  int column = step + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  int row = step + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < n) a[row * n + column] -= a[row * n + step] * a[step * n + column];
}
)";

TEST_F(Settled, CountersOfManyLaunchesAreRanges) {
  for (int step = 0; step < 40; ++step)
    run.launch("k", {unsigned(56 - step) / 16, unsigned(56 - step) / 16, 1}, {16, 16, 1},
               {Launched::into(run.allocation(40 * 40 * 4)), valueOf(40), valueOf(step)});
  EXPECT_TRUE(isProved(kStep, Property::InBounds));
}

TEST_F(Settled, ACounterBelowItsRangeIsNotProved) {
  for (int step = -1; step < 40; ++step)
    run.launch("k", {4, 4, 1}, {16, 16, 1},
               {Launched::into(run.allocation(40 * 40 * 4)), valueOf(40), valueOf(step)});
  EXPECT_FALSE(isProved(kStep, Property::InBounds));
}

const std::string kGather = R"(
#include <cuda_runtime.h>
extern "C" __global__ void k(const float* from, const int* index, float* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[index[i]];
}
)";

TEST_F(Settled, WhatIsReadFromMemoryIsNotKnown) {
  run.launch("k", {1, 1, 1}, {64, 1, 1},
             {Launched::into(run.allocation(256)), Launched::into(run.allocation(256)),
              Launched::into(run.allocation(256)), valueOf(64)});
  EXPECT_FALSE(isProved(kGather, Property::InBounds));
}

const std::string kWindow = R"(
#include <cuda_runtime.h>
extern "C" __global__ void k(float* row, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) row[i] = 1;
}
)";

TEST_F(Settled, PointersIntoTheMiddleKeepTheirOffsets) {
  const std::size_t all = run.allocation(1000);
  run.launch("k", {1, 1, 1}, {64, 1, 1}, {Launched::into(all, 800), valueOf(50)});
  EXPECT_TRUE(isProved(kWindow, Property::InBounds));
  run.launch("k", {1, 1, 1}, {64, 1, 1}, {Launched::into(all, 804), valueOf(50)});
  EXPECT_FALSE(isProved(kWindow, Property::InBounds));
}

const std::string kStride = R"(
#include <cuda_runtime.h>
extern "C" __global__ void k(float* x, int stride, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * stride < n) x[i * stride] += 1;
}
int main() {}
)";

TEST_F(Settled, JoinedLaunchesAreProved) {
  for (unsigned stride = 1; stride < 9; ++stride)
    run.launch("k", {stride, 1, 1}, {64, 1, 1},
               {Launched::into(run.allocation(4096)), valueOf(int(stride)), valueOf(1024)});
  EXPECT_TRUE(isProved(kStride, Property::RaceFree));
}

TEST_F(Settled, JoinedLaunchesKeepTheirHeight) {
  for (unsigned stride = 1; stride < 9; ++stride)
    run.launch("k", {stride, 2, 1}, {64, 1, 1},
               {Launched::into(run.allocation(4096)), valueOf(int(stride)), valueOf(1024)});
  EXPECT_FALSE(isProved(kStride, Property::RaceFree));
}

TEST_F(Settled, JoinedLaunchesOfSeveralHeightsAreHigh) {
  for (unsigned stride = 1; stride < 9; ++stride)
    run.launch("k", {1, stride, 1}, {64, 1, 1},
               {Launched::into(run.allocation(4096)), valueOf(int(stride)), valueOf(1024)});
  EXPECT_FALSE(isProved(kStride, Property::RaceFree));
}

} // namespace
} // namespace kcheck::analyzer
