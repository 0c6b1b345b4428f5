// Facts of host code: buffers, their sizes, and which one a pointer leads to.
#include "described_facts.h"

namespace kcheck::frontend {
namespace {

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

} // namespace
} // namespace kcheck::frontend
