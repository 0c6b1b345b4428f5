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
              "  if (argc) block.y = 4;\n"
              "  k<<<a, b>>>(nullptr, nullptr, c);\n"
              "  k<<<argc, block, g>>>(nullptr, nullptr, argc);\n"
              "  g = 6;\n"
              "}\n",
              "line 12 k(int *, const float *, int) <<<?,1,1 | ?,1,1 | 0>>> nullptr nullptr c\n"
              "line 13 k(int *, const float *, int) <<<?,1,1 | 32,?,1 | ?>>> nullptr nullptr argc\n");
}

TEST(Facts, ShortLoopsAreGoneThrough) {
  expectFacts("#include <initializer_list>\nint main() {\n"
              "  for (int i = 1; i < 8; i *= 2) k<<<i, 64>>>(nullptr, nullptr, i);\n"
              "  for (int b : {32, 64}) k<<<1, b>>>(nullptr, nullptr, 0);\n"
              "  const int sizes[] = {5, 7};\n"
              "  for (int s = 0; s < 2; s++) k<<<1, 1>>>(nullptr, nullptr, sizes[s]);\n"
              "  for (int n = 0; n < 1000; ++n) k<<<1, 8>>>(nullptr, nullptr, n);\n"
              "  for (int i = 1; i < 8; i *= 2) { k<<<i, 4>>>(nullptr, nullptr, 0); i++; }\n"
              "}\n",
              "line 4 k(int *, const float *, int) <<<1,1,1 | 64,1,1 | 0>>> nullptr nullptr i=1\n"
              "line 4 k(int *, const float *, int) <<<2,1,1 | 64,1,1 | 0>>> nullptr nullptr i=2\n"
              "line 4 k(int *, const float *, int) <<<4,1,1 | 64,1,1 | 0>>> nullptr nullptr i=4\n"
              "line 5 k(int *, const float *, int) <<<1,1,1 | 32,1,1 | 0>>> nullptr nullptr 0=0\n"
              "line 5 k(int *, const float *, int) <<<1,1,1 | 64,1,1 | 0>>> nullptr nullptr 0=0\n"
              "line 7 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> nullptr nullptr sizes[s]=5\n"
              "line 7 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> nullptr nullptr sizes[s]=7\n"
              "line 8 k(int *, const float *, int) <<<1,1,1 | 8,1,1 | 0>>> nullptr nullptr n\n"
              "line 9 k(int *, const float *, int) <<<?,1,1 | 4,1,1 | 0>>> nullptr nullptr 0=0\n");
}

TEST(Facts, CasesAndEarlyExitsPartTheWays) {
  expectFacts("void run(int threads) {\n"
              "  switch (threads) {\n"
              "  case 64: k<<<1, threads>>>(nullptr, nullptr, 1); break;\n"
              "  case 128:\n"
              "  case 256: k<<<2, threads>>>(nullptr, nullptr, 2); break;\n"
              "  }\n"
              "  if (threads != 128) return;\n"
              "  k<<<3, threads>>>(nullptr, nullptr, 3);\n"
              "}\n"
              "int main() {\n"
              "  for (int t = 64; t <= 256; t *= 2) run(t);\n"
              "}\n",
              "line 4 k(int *, const float *, int) <<<1,1,1 | 64,1,1 | 0>>> nullptr nullptr 1=1\n"
              "line 6 k(int *, const float *, int) <<<2,1,1 | 128,1,1 | 0>>> nullptr nullptr 2=2\n"
              "line 6 k(int *, const float *, int) <<<2,1,1 | 256,1,1 | 0>>> nullptr nullptr 2=2\n"
              "line 9 k(int *, const float *, int) <<<3,1,1 | 128,1,1 | 0>>> nullptr nullptr 3=3\n");
}

TEST(Facts, TheLastAssignmentBeforeCounts) {
  expectFacts("int main(int argc, char**) {\n"
              "  dim3 block, grid(1, 2, 3);\n"
              "  block.x = 32;\n"
              "  block.y = 4;\n"
              "  int n = 5;\n"
              "  k<<<grid, block>>>(nullptr, nullptr, n);\n"
              "  grid = dim3(7);\n"
              "  block.y = 2;\n"
              "  n = 6;\n"
              "  k<<<grid, block>>>(nullptr, nullptr, n);\n"
              "  if (argc > 1) n = 9;\n"
              "  k<<<grid.x, block.x * block.y>>>(nullptr, nullptr, n);\n"
              "}\n",
              "line 7 k(int *, const float *, int) <<<1,2,3 | 32,4,1 | 0>>> nullptr nullptr n\n"
              "line 11 k(int *, const float *, int) <<<7,1,1 | 32,2,1 | 0>>> nullptr nullptr n\n"
              "line 13 k(int *, const float *, int) <<<7,1,1 | 64,1,1 | 0>>> nullptr nullptr n\n");
}

TEST(Facts, OtherNamesStandForTheirVariableAsItIsThen) {
  expectFacts(R"(
struct Named { const int& n; };
int main() {
  int n = 1;
  const int& same = n;
  const int& own = 5;
  Named named{n};
  n = 2;
  k<<<1, 32>>>(nullptr, nullptr, same);
  k<<<1, 32>>>(nullptr, nullptr, own);
  k<<<1, 32>>>(nullptr, nullptr, named.n);
  dim3 block(64);
  const dim3& alias = block;
  block.y = 2;
  k<<<1, alias>>>(nullptr, nullptr, 0);
})",
              R"(line 10 k(int *, const float *, int) <<<1,1,1 | 32,1,1 | 0>>> nullptr nullptr same=2
line 11 k(int *, const float *, int) <<<1,1,1 | 32,1,1 | 0>>> nullptr nullptr own=5
line 12 k(int *, const float *, int) <<<1,1,1 | 32,1,1 | 0>>> nullptr nullptr named.n
line 16 k(int *, const float *, int) <<<1,1,1 | 64,2,1 | 0>>> nullptr nullptr 0=0
)");
}

TEST(Facts, MembersThatShareAPlaceOrAreNarrowHaveNoValue) {
  expectFacts(R"(
union Either { int whole; float part; };
struct Narrow { unsigned flag : 1; };
struct Within { union { int a; int b; }; };
int main() {
  Either either;
  either.whole = 1;
  either.part = 0;
  k<<<1, 32>>>(nullptr, nullptr, either.whole);
  Narrow narrow;
  narrow.flag = 2;
  k<<<1, 32>>>(nullptr, nullptr, narrow.flag);
  Within within;
  within.a = 1;
  within.b = 2;
  k<<<1, 32>>>(nullptr, nullptr, within.a);
})",
              R"(line 10 k(int *, const float *, int) <<<1,1,1 | 32,1,1 | 0>>> nullptr nullptr either.whole
line 13 k(int *, const float *, int) <<<1,1,1 | 32,1,1 | 0>>> nullptr nullptr narrow.flag
line 17 k(int *, const float *, int) <<<1,1,1 | 32,1,1 | 0>>> nullptr nullptr within.a
)");
}

TEST(Facts, ContainersCountTheirElements) {
  expectFacts("#include <vector>\n"
              "void fill(std::vector<int>& v) { for (auto& x : v) x = 1; v[0] = 2; }\n"
              "std::vector<float> made(int n) { return std::vector<float>(n, 1.0f); }\n"
              "int main() {\n"
              "  std::vector<int> in(1000), out;\n"
              "  fill(in);\n"
              "  out.resize(in.size() + 24);\n"
              "  std::vector<float> list{1, 2, 3}, copy = list, other = made(50);\n"
              "  int n = static_cast<int>(in.size());\n"
              "  k<<<(n + 255) / 256, 256>>>(nullptr, 0, out.size());\n"
              "  k<<<1, copy.size()>>>(nullptr, 0, other.size());\n"
              "}\n",
              "line 11 k(int *, const float *, int) <<<4,1,1 | 256,1,1 | 0>>> nullptr 0 out.size()=1024\n"
              "line 12 k(int *, const float *, int) <<<1,1,1 | 3,1,1 | 0>>> nullptr 0 other.size()=50\n");
}

TEST(Facts, ContainersThatGrowHaveNoKnownSize) {
  expectFacts("#include <utility>\n"
              "#include <vector>\n"
              "void more(std::vector<int>& v) { v.push_back(1); }\n"
              "struct Data { std::vector<int> v; void add() { v.push_back(1); } };\n"
              "int main(int argc, char**) {\n"
              "  std::vector<int> pushed(10), handed(20), swapped(30), late(40), moved(50), referred(60);\n"
              "  pushed.push_back(1);\n"
              "  more(handed);\n"
              "  std::swap(swapped, pushed);\n"
              "  if (argc > 1) late.resize(4);\n"
              "  std::vector<int> target = std::move(moved);\n"
              "  auto& other = referred;\n"
              "  other.clear();\n"
              "  Data data{std::vector<int>(5)};\n"
              "  data.add();\n"
              "  k<<<1, 1>>>(nullptr, 0, pushed.size());\n"
              "  k<<<1, 1>>>(nullptr, 0, handed.size());\n"
              "  k<<<1, 1>>>(nullptr, 0, swapped.size());\n"
              "  k<<<1, 1>>>(nullptr, 0, late.size());\n"
              "  k<<<1, 1>>>(nullptr, 0, moved.size());\n"
              "  k<<<1, 1>>>(nullptr, 0, referred.size());\n"
              "  k<<<1, 1>>>(nullptr, 0, data.v.size());\n"
              "}\n",
              "line 17 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> nullptr 0 pushed.size()\n"
              "line 18 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> nullptr 0 handed.size()\n"
              "line 19 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> nullptr 0 swapped.size()\n"
              "line 20 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> nullptr 0 late.size()\n"
              "line 21 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> nullptr 0 moved.size()\n"
              "line 22 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> nullptr 0 referred.size()\n"
              "line 23 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> nullptr 0 data.v.size()\n");
}

TEST(Facts, LoopsExchangeTwoBuffers) {
  const std::string buffers = "#include <utility>\n"
                              "int main(int argc, char**) {\n"
                              "  int *a, *b;\n"
                              "  cudaMalloc(&a, 400);\n"
                              "  cudaMalloc(&b, 800);\n";
  const std::string found = "buffer a line 5 bytes 400\nbuffer b line 6 bytes 800\n";
  const std::string shape = " k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> ";
  expectFacts(buffers + "  for (int i = 0; i < argc; ++i) {\n"
                        "    k<<<1, 1>>>(a, 0, 1);\n"
                        "    std::swap(a, b);\n"
                        "    k<<<1, 1>>>(a, 0, 2);\n"
                        "  }\n"
                        "  k<<<1, 1>>>(a, 0, 3);\n"
                        "}\n",
              found + "line 8" + shape + "a@a+0 0 1=1\n" + "line 8" + shape + "a@b+0 0 1=1\n" + "line 10" +
                  shape + "a@b+0 0 2=2\n" + "line 10" + shape + "a@a+0 0 2=2\n" + "line 12" + shape +
                  "a 0 3=3\n");
  expectFacts(buffers + "  for (int i = 0; i < 3; ++i) {\n"
                        "    k<<<1, 1>>>(b, 0, i);\n"
                        "    int* t = a;\n"
                        "    a = b;\n"
                        "    b = t;\n"
                        "  }\n"
                        "}\n",
              found + "line 8" + shape + "b@b+0 0 i=0\n" + "line 8" + shape + "b@a+0 0 i=1\n" + "line 8" +
                  shape + "b@b+0 0 i=2\n");
}

TEST(Facts, OtherExchangesAreNotFollowed) {
  for (const char* loop :
       {"  for (int i = 0; i < argc; ++i) {\n    k<<<1, 1>>>(a, 0, 1);\n"
        "    if (i % 3 == 0) std::swap(a, b);\n  }\n",
        "  for (int i = 0; i < argc; ++i) {\n    k<<<1, 1>>>(a, 0, 1);\n"
        "    if (i == 2) continue;\n    std::swap(a, b);\n  }\n",
        "  for (int i = 0; i < argc; ++i) {\n    k<<<1, 1>>>(a, 0, 1);\n"
        "    std::swap(a, b);\n    cudaMalloc(&a, 4);\n  }\n",
        "  while (argc--) {\n    k<<<1, 1>>>(a, 0, 1);\n    std::swap(a, b);\n  }\n",
        "  for (int j = 0; j < 3; ++j)\n  for (int i = 0; i < argc; ++i) { k<<<1, 1>>>(a, 0, 1);\n"
        "    std::swap(a, b); }\n"}) {
    Options options;
    options.wantHost = false;
    auto program = compileSource(std::string(kKernel) +
                                     "#include <utility>\nint main(int argc, char**) {\n  int *a, *b;\n"
                                     "  cudaMalloc(&a, 400);\n  cudaMalloc(&b, 800);\n" +
                                     loop + "}\n",
                                 options);
    ASSERT_TRUE(program) << program.error().message;
    ASSERT_FALSE(program->facts.launches.empty()) << loop;
    for (const Launch& launch : program->facts.launches) EXPECT_FALSE(launch.arguments[0].allocation) << loop;
  }
}

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

TEST(Facts, HelpersAllocate) {
  expectFacts("void byPointer(int** p, int n) { cudaMalloc((void**)p, n * sizeof(int)); }\n"
              "template <typename T> void byReference(T*& p, size_t n) { cudaMalloc(&p, n * sizeof(T)); }\n"
              "template <typename T> T* made(size_t n) {\n"
              "  T* p = nullptr;\n"
              "  if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) __builtin_trap();\n"
              "  return p;\n"
              "}\n"
              "int main() {\n"
              "  int *a, *b;\n"
              "  byPointer(&a, 10);\n"
              "  byReference(b, 20);\n"
              "  float *c = made<float>(30), *d = made<float>(40);\n"
              "  k<<<1, 1>>>(a, c, 0);\n"
              "  k<<<1, 1>>>(b, d, 0);\n"
              "}\n",
              "buffer *p line 2 bytes 40\n"
              "buffer p line 3 bytes 80\n"
              "buffer p line 6 bytes ?\n"
              "buffer a line 11 bytes 40\n"
              "buffer p line 6 bytes 120\n"
              "buffer b line 12 bytes 80\n"
              "buffer p line 6 bytes 160\n"
              "line 14 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> a@a+0 c@p+0 0=0\n"
              "line 15 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> b@b+0 d@p+0 0=0\n");
}

TEST(Facts, BuffersInStructuresAndClasses) {
  expectFacts(
      "struct Pair { int* in; int n; };\n"
      "template <typename T> class Buffer {\n"
      "public:\n"
      "  explicit Buffer(size_t n) : count(n) { cudaMalloc(&data, n * sizeof(T)); }\n"
      "  ~Buffer() { cudaFree(data); }\n"
      "  T* get() const { return data; }\n"
      "  int size() const { return count; }\n"
      "private:\n"
      "  T* data = nullptr;\n"
      "  size_t count;\n"
      "};\n"
      "void use(Buffer<int>& b) { k<<<1, 1>>>(b.get(), nullptr, b.size()); }\n"
      "int main() {\n"
      "  Pair p;\n"
      "  p.n = 12;\n"
      "  cudaMalloc(&p.in, p.n * sizeof(int));\n"
      "  Buffer<int> x(5);\n"
      "  Buffer<float> y(6);\n"
      "  k<<<1, 1>>>(p.in, y.get(), p.n);\n"
      "  k<<<1, 1>>>(x.get(), nullptr, x.size());\n"
      "  use(x);\n"
      "}\n",
      "buffer data line 5 bytes ?\n"
      "buffer data line 5 bytes ?\n"
      "buffer p.in line 17 bytes 48\n"
      "buffer data line 5 bytes 20\n"
      "buffer data line 5 bytes 24\n"
      "line 13 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> b.get()@data+0 nullptr b.size()=5\n"
      "line 20 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> p.in@p.in+0 y.get()@data+0 p.n=12\n"
      "line 21 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> x.get()@data+0 nullptr x.size()=5\n");
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

TEST(Facts, ABufferIsTheSameHoweverOneComesToIt) {
  expectFacts(
      "int* shared;\n"
      "void use(int* p, int n) { k<<<n, 1>>>(p, (float*)shared, n); }\n"
      "int main() {\n"
      "  cudaMalloc(&shared, 40);\n"
      "  use(shared, 1);\n"
      "  use(shared, 2);\n"
      "}\n",
      "buffer shared line 5 bytes 40\n"
      "line 3 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> p@shared+0 (float*)shared@shared+0 n=1\n"
      "line 3 k(int *, const float *, int) <<<2,1,1 | 1,1,1 | 0>>> p@shared+0 (float*)shared@shared+0 n=2\n");
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
      "line 15 k(int *, const float *, int) <<<1,1,1 | 1,1,1 | 0>>> twice@twice+0 f@f+0 n=100\n"
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
