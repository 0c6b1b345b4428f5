// Facts of host code: what folds is there, and what could be something else is absent.
#include "compile_source.h"

namespace kcheck::frontend {
namespace {

std::string text(const Extent& extent) {
  if (extent.unknown()) return "?";
  auto axis = [](const std::optional<std::uint32_t>& known) { return known ? std::to_string(*known) : "?"; };
  return axis(extent.x) + "," + axis(extent.y) + "," + axis(extent.z);
}

std::string describeFacts(const Facts& facts) {
  std::string result;
  for (const Allocation& allocation : facts.allocations)
    result += "buffer " + allocation.name + " line " + std::to_string(allocation.where.line) + " bytes " +
              (allocation.bytes ? std::to_string(*allocation.bytes) : "?") + "\n";
  for (const Launch& launch : facts.launches) {
    const Kernel* kernel = facts.kernel(launch.kernel);
    result += "line " + std::to_string(launch.where.line) + " " +
              (kernel ? kernel->name : "NO KERNEL " + launch.kernel) + " <<<" + text(launch.grid) + " | " +
              text(launch.block) + " | " + (launch.sharedBytes ? std::to_string(*launch.sharedBytes) : "?") +
              ">>>";
    for (const Argument& argument : launch.arguments) {
      result += " " + argument.text;
      if (argument.value) result += "=" + std::to_string(*argument.value);
      if (argument.allocation) result += "@" + facts.allocations[*argument.allocation].name;
      if (argument.byteOffset) result += "+" + std::to_string(*argument.byteOffset);
    }
    result += "\n";
  }
  return result;
}

const char* const kKernel = "__global__ void k(int* a, const float* b, int n) {}\n"; // line 1

void expectFacts(const std::string& host, const std::string& expected) {
  Options options;
  options.wantHost = false;
  auto program = compileSource(kKernel + host, options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(describeFacts(program->facts), expected);
}

TEST(Facts, ConstantsFoldThroughVariables) {
  expectFacts("const int N = 1000;\n"
              "constexpr int kBlock = 128;\n"
              "int main() {\n"
              "  int n = N, m;\n"
              "  m = 2 * n;\n"
              "  dim3 block(kBlock), grid((n + block.x - 1) / block.x, 2);\n"
              "  k<<<grid, block, m * sizeof(float)>>>(nullptr, 0, m - 1);\n"
              "}\n",
              "line 8 k(int *, const float *, int) <<<8,2,1 | 128,1,1 | 8000>>> nullptr 0 m - 1=1999\n");
}

TEST(Facts, WhatCanChangeIsAbsent) {
  expectFacts("int g = 5;\n"
              "void change(int*);\n"
              "int main(int argc, char** argv) {\n"
              "  int a = 3, b = 4, c = 5;\n"
              "  a++;\n"
              "  change(&b);\n"
              "  int& r = c;\n"
              "  r = 9;\n"
              "  dim3 block(32);\n"
              "  block.y = 4;\n"
              "  k<<<a, b>>>(nullptr, nullptr, c);\n"
              "  k<<<argc, block, g>>>(nullptr, nullptr, argc);\n"
              "  g = 6;\n"
              "}\n",
              "line 12 k(int *, const float *, int) <<<?,1,1 | ?,1,1 | 0>>> nullptr nullptr c\n"
              "line 13 k(int *, const float *, int) <<<?,1,1 | ? | ?>>> nullptr nullptr argc\n");
}

TEST(Facts, LoopVariablesAreAbsentAndTheRestStays) {
  expectFacts("int main() {\n"
              "  for (int i = 1; i < 8; i *= 2) k<<<i, 64>>>(nullptr, nullptr, i);\n"
              "}\n",
              "line 3 k(int *, const float *, int) <<<?,1,1 | 64,1,1 | 0>>> nullptr nullptr i\n");
}

TEST(Facts, PointersLeadToTheirBuffers) {
  expectFacts(
      "int main() {\n"
      "  int n = 100, *d, *e = nullptr, *twice, *moved;\n"
      "  float* f;\n"
      "  cudaMalloc((void**)&d, n * sizeof(int));\n"
      "  cudaMallocManaged(&f, n * sizeof(*f));\n"
      "  cudaMalloc(&e, n);\n"
      "  cudaMalloc(&twice, 4);\n"
      "  cudaMalloc(&twice, 8);\n"
      "  cudaMalloc(&moved, 4);\n"
      "  moved++;\n"
      "  int* alias = d + 2;\n"
      "  k<<<1, 1>>>(d, f, n);\n"
      "  k<<<1, 1>>>(alias + 1, &f[n / 2], n);\n"
      "  k<<<1, 1>>>(twice, f, n);\n"
      "  k<<<1, 1>>>(moved, (const float*)e, n);\n"
      "}\n",
      "buffer d line 5 bytes 400\n"
      "buffer f line 6 bytes 400\n"
      "buffer e line 7 bytes 100\n"
      "buffer twice line 8 bytes 4\n"
      "buffer twice line 9 bytes 8\n"
      "buffer moved line 10 bytes 4\n"
      "line 13 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> d@d+0 f@f+0 n=100\n"
      "line 14 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> alias + 1@d+12 &f[n / 2]@f+200 n=100\n"
      "line 15 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> twice f@f+0 n=100\n"
      "line 16 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> moved (const float*)e@e+0 n=100\n");
}

TEST(Facts, HelpersAreFollowed) {
  expectFacts("int ceilDiv(int a, int b) { return (a + b - 1) / b; }\n"
              "void run(int* d, int n) { k<<<ceilDiv(n, 256), 256>>>(d, nullptr, n); }\n"
              "void twice(int n) { k<<<n, 1>>>(nullptr, nullptr, 0); }\n"
              "int main() {\n"
              "  int* d;\n"
              "  cudaMalloc(&d, 4000);\n"
              "  run(d, 1000);\n"
              "  twice(1);\n"
              "  twice(2);\n"
              "}\n",
              "buffer d line 7 bytes 4000\n"
              "line 3 k(int *, const float *, int) <<<4,1,1 | 256,1,1 | 0>>> d@d+0 nullptr n=1000\n"
              "line 4 k(int *, const float *, int) <<<?,1,1 | 1,1,1 | 0>>> nullptr nullptr 0=0\n");
}

TEST(Facts, LaunchFunctionsAndTemplatesAreLaunches) {
  expectFacts("template <typename T, int B> __global__ void t(T* p) {}\n"
              "static __global__ void s(int) {}\n"
              "int main() {\n"
              "  int* d, n = 7;\n"
              "  float* f = nullptr;\n"
              "  cudaMalloc(&d, 4);\n"
              "  void* args[] = {&d, &f, &n};\n"
              "  cudaLaunchKernel((void*)k, dim3(2), dim3(64), args, 16, 0);\n"
              "  t<float, 32><<<3, 32>>>(nullptr);\n"
              "  s<<<1, 2>>>(n);\n"
              "}\n",
              "buffer d line 7 bytes 4\n"
              "line 9 k(int *, const float *, int) <<<2,1,1 | 64,1,1 | 16>>> d@d+0 f n=7\n"
              "line 10 t<float, 32>(float *) <<<3,1,1 | 32,1,1 | 0>>> nullptr\n"
              "line 11 s(int) <<<1,1,1 | 2,1,1 | 0>>> n=7\n");
}

TEST(Facts, KernelsHaveTheirParameters) {
  Options options;
  auto program = compileSource(
      "__global__ void k(double* out, const unsigned char* in, void* raw, int n) {}\n", options);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->facts.kernels.size(), 1u);
  const Kernel& kernel = program->facts.kernels[0];
  EXPECT_EQ(kernel.name, "k(double *, const unsigned char *, void *, int)");
  EXPECT_EQ(kernel.symbol, "_Z1kPdPKhPvi");
  EXPECT_EQ(kernel.where.line, 1u);
  ASSERT_EQ(kernel.parameters.size(), 4u);
  EXPECT_EQ(kernel.parameters[0].elementBytes, 8u);
  EXPECT_EQ(kernel.parameters[1].name, "in");
  EXPECT_EQ(kernel.parameters[1].elementBytes, 1u);
  EXPECT_EQ(kernel.parameters[2].elementBytes, 0u);
  EXPECT_FALSE(kernel.parameters[3].isPointer);
  EXPECT_FALSE(program->facts.hasMain);
  EXPECT_EQ(program->hostObjects.size(), 1u);
  EXPECT_FALSE(program->hostObjects[0].empty());
}

} // namespace
} // namespace kcheck::frontend
