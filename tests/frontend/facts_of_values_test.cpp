// Facts of host code: the values of variables. What folds is there, and what could be something else is
// absent.
#include "described_facts.h"

namespace kcheck::frontend {
namespace {

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
              "line 7 k(int *, const float *, int) <<<1,2,3 | 32,4,1 | 0>>> nullptr nullptr n=5\n"
              "line 11 k(int *, const float *, int) <<<7,1,1 | 32,2,1 | 0>>> nullptr nullptr n=6\n"
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

} // namespace
} // namespace kcheck::frontend
