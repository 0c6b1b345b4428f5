// Code of libraries is analysed, and its users are not warned of what the model bends in it.
#include "analyzed.h"

#include <gmock/gmock.h>

namespace kcheck::analyzer {
namespace {

using testing::HasSubstr;

// A library's own indexing, where the model loses it, is nothing to warn its user of.
TEST(Libraries, AreNotDoubtedForWhatTheModelBends) {
  const std::string helper = R"(
__device__ inline void rotate(int* shared, int value) {
  int ranks[64];
  for (int i = 0; i < 64; ++i) ranks[(i * 7 + threadIdx.x) % 64] = i;
  shared[ranks[value & 63]] = threadIdx.x;
}
)";
  const std::string kernel = R"(
__global__ void caller(int* in, int* out) {
  __shared__ int tile[64];
  rotate(tile, in[threadIdx.x]);
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}
)";
  const std::string cuda = "#include <cuda_runtime.h>\n";
  Analyzed own(cuda + helper + kernel, Analyzed::launch(4, 64));
  EXPECT_THAT(own.findings("caller"), testing::Contains(HasSubstr("possible")));
  Analyzed librarys(cuda + "# 1 \"library.h\" 1 3\n" + helper + "# 20 \"program.cu\" 2\n" + kernel,
                    Analyzed::launch(4, 64));
  EXPECT_THAT(librarys.findings("caller"), testing::IsEmpty());
  EXPECT_EQ(librarys.races("caller"), Answer::Unknown);
}

} // namespace
} // namespace kcheck::analyzer
