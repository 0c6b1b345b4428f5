// Facts of host code: launches, by whichever way the program comes to them, and kernels.
#include "described_facts.h"

namespace kcheck::frontend {
namespace {

TEST(Facts, LaunchConfigurationsAreRead) {
  expectFacts("int main() {\n"
              "  int* d;\n"
              "  cudaMalloc(&d, 64);\n"
              "  cudaLaunchConfig_t config = {0};\n"
              "  config.gridDim = dim3(2, 3);\n"
              "  config.blockDim.x = 64;\n"
              "  config.blockDim.y = 1;\n"
              "  config.blockDim.z = 1;\n"
              "  config.dynamicSmemBytes = 256;\n"
              "  cudaLaunchKernelEx(&config, k, d, (const float*)nullptr, 3);\n"
              "}\n",
              "buffer d line 4 bytes 64\n"
              "line 11 k(int *, const float *, int) <<<2,3,1 | 64,1,1 | 256>>> d@d+0 "
              "(const float*)nullptr 3=3\n");
}

TEST(Facts, MethodsLaunchWithTheirOwnBuffers) {
  expectFacts("class App {\n"
              "public:\n"
              "  App(int n) : n(n) {}\n"
              "  void init() { cudaMalloc(&in, n * sizeof(int)); }\n"
              "  void run() { k<<<(n + 31) / 32, 32>>>(in, nullptr, n); }\n"
              "private:\n"
              "  int n;\n"
              "  int* in = nullptr;\n"
              "};\n"
              "int main() {\n"
              "  App app(100);\n"
              "  app.init();\n"
              "  app.run();\n"
              "}\n",
              "buffer in line 5 bytes ?\n"
              "buffer in line 5 bytes 400\n"
              "line 6 k(int *, const float *, int) <<<4,1,1 | 32,1,1 | 0>>> in@in+0 nullptr n=100\n");
}

TEST(Facts, EachCallHasItsOwnLaunch) {
  expectFacts("template <int B> void run(int* d, int n) {\n"
              "  if (n > 50) k<<<n / B, B>>>(d, nullptr, n);\n"
              "  else k<<<1, B>>>(d, nullptr, n);\n"
              "}\n"
              "void test(int n) {\n"
              "  int* d;\n"
              "  cudaMalloc(&d, n * sizeof(int));\n"
              "  run<32>(d, n);\n"
              "  cudaFree(d);\n"
              "}\n"
              "int main() {\n"
              "  for (int n = 32; n <= 128; n *= 4) test(n);\n"
              "}\n",
              "buffer d line 8 bytes ?\n"
              "buffer d line 8 bytes 512\n"
              "buffer d line 8 bytes 128\n"
              "line 3 k(int *, const float *, int) <<<4,1,1 | 32,1,1 | 0>>> d@d+0 nullptr n=128\n"
              "line 4 k(int *, const float *, int) <<<1,1,1 | 32,1,1 | 0>>> d@d+0 nullptr n=32\n");
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
              "line 4 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> nullptr nullptr 0=0\n"
              "line 4 k(int *, const float *, int) <<<2,1,1 | 1,1,1 | 0>>> nullptr nullptr 0=0\n");
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
