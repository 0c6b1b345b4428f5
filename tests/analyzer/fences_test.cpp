// What stands for a fence.
#include "analyzed.h"

#include <gmock/gmock.h>

namespace kcheck::analyzer {
namespace {

/// Atomics that acquire and release stand for fences; relaxed ones do not.
TEST(Fences, AreNotMissedWhereAtomicsOrder) {
  const auto findings = [](const std::string& store, const std::string& load) {
    const Analyzed analyzed("#include <cuda_runtime.h>\n"
                            "extern \"C\" __global__ void k(int* data, int* flag, int* out) {\n"
                            "  if (threadIdx.x) return;\n"
                            "  if (blockIdx.x == 0) { *data = 42; __atomic_store_n(flag, 1, " +
                                store + "); return; }\n  while (!__atomic_load_n(flag, " + load +
                                ")) {}\n  out[blockIdx.x] = *data;\n}\n",
                            Analyzed::launch(2, 32));
    return analyzed.findings("k");
  };
  EXPECT_THAT(findings("__ATOMIC_RELEASE", "__ATOMIC_ACQUIRE"), testing::IsEmpty());
  EXPECT_THAT(findings("__ATOMIC_RELAXED", "__ATOMIC_ACQUIRE"), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(findings("__ATOMIC_RELEASE", "__ATOMIC_RELAXED"), testing::Not(testing::IsEmpty()));
}

} // namespace
} // namespace kcheck::analyzer
