// Launch validation and occupancy of the virtual device, against CUDA's rules for compute capability 8.0.
#include "instrument/runtime/api/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kcheck::runtime::api;
using kcheck::cuda::Error;
using testing::HasSubstr;

namespace {

KernelLimits plain() {
  KernelLimits limits;
  limits.maxDynamicShared = defaultDynamicShared(0);
  return limits;
}

LaunchProblem launching(LaunchShape shape, KernelLimits limits = plain()) {
  return checkLaunch(limits, shape);
}

TEST(LaunchCheck, AcceptsTheLargestShapes) {
  EXPECT_EQ(launching({{1, 1, 1}, {1024, 1, 1}, 0, false, {}}).error, Error::Success);
  EXPECT_EQ(launching({{1, 1, 1}, {16, 1, 64}, 0, false, {}}).error, Error::Success);
  EXPECT_EQ(launching({{2147483647, 65535, 65535}, {1, 1, 1}, 0, false, {}}).error, Error::Success);
  EXPECT_EQ(launching({{1, 1, 1}, {1, 1, 1}, 49152, false, {}}).error, Error::Success);
}

TEST(LaunchCheck, RefusesBlocksThatAreTooLarge) {
  LaunchProblem problem = launching({{1, 1, 1}, {2048, 1, 1}, 0, false, {}});
  EXPECT_EQ(problem.error, Error::InvalidConfiguration);
  EXPECT_EQ(problem.reason, "block (2048,1,1) has 2048 threads; the limit is 1024");
  EXPECT_EQ(launching({{1, 1, 1}, {1025, 1, 1}, 0, false, {}}).error, Error::InvalidConfiguration);
  EXPECT_EQ(launching({{1, 1, 1}, {32, 33, 1}, 0, false, {}}).error, Error::InvalidConfiguration);
  problem = launching({{1, 1, 1}, {1, 1, 65}, 0, false, {}});
  EXPECT_EQ(problem.error, Error::InvalidConfiguration);
  EXPECT_THAT(problem.reason, HasSubstr("65 threads along z; the limit is 64"));
}

TEST(LaunchCheck, CountsThreadsWithoutWrapping) {
  EXPECT_EQ(launching({{1, 1, 1}, {65536, 65536, 1}, 0, false, {}}).error, Error::InvalidConfiguration);
}

TEST(LaunchCheck, RefusesEmptyAndOversizedGrids) {
  EXPECT_EQ(launching({{0, 1, 1}, {32, 1, 1}, 0, false, {}}).error, Error::InvalidConfiguration);
  EXPECT_EQ(launching({{1, 1, 1}, {0, 1, 1}, 0, false, {}}).error, Error::InvalidConfiguration);
  EXPECT_EQ(launching({{2147483648u, 1, 1}, {1, 1, 1}, 0, false, {}}).error, Error::InvalidConfiguration);
  EXPECT_EQ(launching({{1, 65536, 1}, {1, 1, 1}, 0, false, {}}).error, Error::InvalidConfiguration);
  EXPECT_EQ(launching({{1, 1, 65536}, {1, 1, 1}, 0, false, {}}).error, Error::InvalidConfiguration);
}

TEST(LaunchCheck, CountsStaticAndDynamicSharedMemory) {
  KernelLimits limits;
  limits.staticShared = 1024;
  limits.maxDynamicShared = defaultDynamicShared(limits.staticShared);
  EXPECT_EQ(launching({{1, 1, 1}, {1, 1, 1}, 48128, false, {}}, limits).error, Error::Success);
  LaunchProblem problem = launching({{1, 1, 1}, {1, 1, 1}, 48129, false, {}}, limits);
  EXPECT_EQ(problem.error, Error::InvalidValue);
  EXPECT_THAT(problem.reason, HasSubstr("48129 bytes of dynamic shared memory on top of 1024 static bytes"));
  limits.maxDynamicShared = 100000; // the program has opted in
  EXPECT_EQ(launching({{1, 1, 1}, {1, 1, 1}, 100000, false, {}}, limits).error, Error::Success);
}

TEST(LaunchCheck, HonoursLaunchBounds) {
  KernelLimits limits = plain();
  limits.maxThreads = 128;
  EXPECT_EQ(launching({{1, 1, 1}, {128, 1, 1}, 0, false, {}}, limits).error, Error::Success);
  EXPECT_EQ(launching({{1, 1, 1}, {129, 1, 1}, 0, false, {}}, limits).error, Error::InvalidValue);
}

TEST(LaunchCheck, CooperativeGridsMustBeResident) {
  unsigned multiprocessors = unsigned(limit(kcheck::cuda::Attribute::MultiProcessorCount));
  EXPECT_EQ(launching({{2 * multiprocessors, 1, 1}, {1024, 1, 1}, 0, true, {}}).error, Error::Success);
  EXPECT_EQ(launching({{2 * multiprocessors + 1, 1, 1}, {1024, 1, 1}, 0, true, {}}).error,
            Error::CooperativeLaunchTooLarge);
  EXPECT_EQ(launching({{2 * multiprocessors + 1, 1, 1}, {1024, 1, 1}, 0, false, {}}).error, Error::Success);
}

TEST(Occupancy, IsLimitedByThreadsBlocksAndSharedMemory) {
  EXPECT_EQ(residentBlocks(plain(), 1024, 0), 2);
  EXPECT_EQ(residentBlocks(plain(), 256, 0), 8);
  EXPECT_EQ(residentBlocks(plain(), 32, 0), 32);     // blocks
  EXPECT_EQ(residentBlocks(plain(), 33, 0), 32);     // two warps each
  EXPECT_EQ(residentBlocks(plain(), 96, 0), 21);     // 64 warps in blocks of three
  EXPECT_EQ(residentBlocks(plain(), 128, 49152), 3); // 48 KiB and the reserved KiB in 164 KiB
  EXPECT_EQ(residentBlocks(plain(), 2048, 0), 0);
  EXPECT_EQ(residentBlocks(plain(), 32, 200000), 0);
}

TEST(Occupancy, SharedMemoryForBlocksIsWhatLetsThemFit) {
  for (int blocks : {1, 2, 3, 5, 8}) {
    std::size_t bytes = dynamicSharedFor(plain(), blocks, 128);
    EXPECT_GE(residentBlocks(plain(), 128, bytes), blocks);
    if (blocks > 1) EXPECT_LT(residentBlocks(plain(), 128, bytes + 128), blocks);
  }
  EXPECT_EQ(dynamicSharedFor(plain(), 3, 1024), 0u) << "three such blocks never fit";
}

TEST(Device, PropertiesRepeatTheAttributes) {
  kcheck::cuda::DeviceProperties p;
  fillProperties(p);
  EXPECT_STREQ(p.name, "kcheck virtual device (sm_80)");
  EXPECT_EQ(p.major, 8);
  EXPECT_EQ(p.minor, 0);
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_EQ(p.maxThreadsDim[2], 64);
  EXPECT_EQ(p.multiProcessorCount, limit(kcheck::cuda::Attribute::MultiProcessorCount));
  EXPECT_EQ(p.sharedMemPerBlockOptin, 166912u);
  EXPECT_FALSE(deviceAttribute(kcheck::cuda::Attribute(4711)));
}

} // namespace
