// Sizes of buffers that host code computes in types which may not hold them.
#include "analyzed.h"

#include <gmock/gmock.h>

namespace kcheck::analyzer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Buffers of a size that the host computes in a type which may not hold it.
Analyzed hostSize(const std::string& size) {
  return Analyzed("#include <cuda_runtime.h>\n#include <stdlib.h>\n"
                  "__global__ void fill(char* p, int n) {\n"
                  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "  if (i < n) p[i] = 1;\n}\n"
                  "int main(int count, char** words) {\n"
                  "  int n = atoi(words[1]);\n  char* p;\n" +
                  size + "  fill<<<(n + 31) / 32, 32>>>(p, n);\n}\n");
}

TEST(HostSizes, OfBytesAndShortsAreNotThoseOfInts) {
  for (const char* size :
       {"  unsigned char m = n;\n  cudaMalloc(&p, m);\n", "  cudaMalloc(&p, (unsigned short)n);\n",
        "  short m = n;\n  cudaMalloc(&p, m);\n", "  cudaMalloc(&p, (signed char)(n + 1));\n"})
    EXPECT_NE(hostSize(size).bounds("fill"), Answer::Proved) << size;
}

TEST(HostSizes, WithoutSignAreAssumedToFit) {
  for (const char* size : {"  unsigned m = n * 4u;\n  cudaMalloc(&p, m);\n",
                           "  size_t m = n;\n  int bytes = m * 2;\n  cudaMalloc(&p, bytes);\n"}) {
    const Analyzed analyzed = hostSize(size);
    const PropertyResult& bounds = analyzed.property("fill", Property::InBounds);
    if (bounds.answer == Answer::Proved) {
      EXPECT_THAT(bounds.assumptions, Contains(HasSubstr("`n` fits its type"))) << size;
    }
  }
  const Analyzed plain = hostSize("  cudaMalloc(&p, n * sizeof(char));\n");
  const PropertyResult& bounds = plain.property("fill", Property::InBounds);
  EXPECT_EQ(bounds.answer, Answer::Proved);
  EXPECT_THAT(bounds.assumptions, Not(Contains(HasSubstr("fits its type"))));
}

} // namespace
} // namespace kcheck::analyzer
