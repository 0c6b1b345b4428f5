// Sites: one per access of memory that threads may share or index, with the place and text of the source.
#include "compile_source.h"

namespace kcheck::frontend {
namespace {

Options anyHeaders() {
  Options options;
  options.wantHost = false;
  options.cudaPath = toolkitPath().empty() ? "none" : toolkitPath();
  return options;
}

void expectSites(const std::string& body, const std::string& expected) {
  auto program = compileSource(body, anyHeaders());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(describeSites(program->facts), expected);
}

TEST(Sites, ACompoundAssignmentReadsAndWritesAsAWhole) {
  expectSites("__global__ void k(int* c) {\n"
              "  c[0] += 1;\n"
              "  c[1]++;\n"
              "}\n",
              "2:3-12 read c[0] of c, 4\n"
              "2:3-12 write c[0] of c, 4\n"
              "3:3-9 read c[1] of c, 4\n"
              "3:3-9 write c[1] of c, 4\n");
}

TEST(Sites, PlainLocalsHaveNone) {
  expectSites("__global__ void k(int* c, int n) {\n"
              "  int i = threadIdx.x, *p = c + i;\n"
              "  for (int j = 0; j < n; ++j) i += j;\n"
              "  *p = i;\n"
              "}\n",
              "4:3-9 write *p of p, 4\n");
}

TEST(Sites, LocalArraysKeepTheirs) {
  expectSites("__global__ void k(int* c, int n) {\n"
              "  int a[4];\n"
              "  a[n & 3] = 1;\n"
              "  c[0] = a[n];\n"
              "}\n",
              "3:3-15 write a[n & 3] of a, 4\n"
              "4:10-14 read a[n] of a, 4\n"
              "4:3-14 write c[0] of c, 4\n");
}

TEST(Sites, AnAtomicIsTheUsersCall) {
  expectSites("__global__ void k(int* c, float* f, int i) {\n"
              "  atomicAdd(&c[0], 1);\n"
              "  atomicMax(c + i, 7);\n"
              "  atomicAdd(f, 1.0f);\n"
              "}\n",
              "2:3-22 atomic c[0] of c, 4\n"
              "3:3-22 atomic c[i] of c, 4\n"
              "4:3-21 atomic *f of f, 4\n");
}

TEST(Sites, AnArrayIsNamedWithoutCastsAndSteps) {
  expectSites("struct S { int x; };\n"
              "__global__ void k(int* c, S** list, int n) {\n"
              "  ((long long*)((char*)c + 8))[n] = 1;\n"
              "  *(short*)(c + n) = 2;\n"
              "  (&c[4])[n] = ((S*)list[n])->x;\n"
              "}\n",
              "3:3-38 write ((long long*)((char*)c + 8))[n] of c, 8\n"
              "4:3-23 write *(short*)(c + n) of c, 2\n"
              "5:21-28 read list[n] of list, 8\n"
              "5:16-32 read ((S*)list[n])->x of list[n], 4\n"
              "5:3-32 write (&c[4])[n] of c, 4\n");
}

TEST(Sites, AVectorIsOneAccess) {
  expectSites("__global__ void k(float4* v, float4* w, int i) {\n"
              "  float4 q = v[i];\n"
              "  q.x += 1;\n"
              "  w[i] = q;\n"
              "  w[i].y = 2;\n"
              "}\n",
              "2:14-18 read v[i] of v, 16\n"
              "4:3-11 write w[i] of w, 16\n"
              "5:3-13 write w[i].y of w, 4\n");
}

TEST(Sites, StructCopiesHaveBothSidesWithoutPadding) {
  expectSites("struct S { char c; int i; };\n"
              "__global__ void k(S* s, S* t, int i) {\n"
              "  s[i] = t[i];\n"
              "}\n",
              "3:10-14 read t[i] of t, 1\n"
              "3:10-14 read t[i] of t, 4\n"
              "3:3-14 write s[i] of s, 1\n"
              "3:3-14 write s[i] of s, 4\n");
}

TEST(Sites, PointersToPointersAreToldApart) {
  expectSites("__global__ void k(int** p, int i) {\n"
              "  p[i][2] = p[1][i];\n"
              "}\n",
              "2:13-17 read p[1] of p, 8\n"
              "2:13-20 read p[1][i] of p[1], 4\n"
              "2:3-7 read p[i] of p, 8\n"
              "2:3-20 write p[i][2] of p[i], 4\n");
}

TEST(Sites, RowsOfAnArrayAreTheArray) {
  expectSites("__global__ void k(int* c) {\n"
              "  __shared__ int tile[8][9];\n"
              "  tile[threadIdx.x][threadIdx.y] = 1;\n"
              "  c[0] = tile[threadIdx.y][threadIdx.x];\n"
              "}\n",
              "3:3-37 write tile[threadIdx.x][threadIdx.y] of tile, 4\n"
              "4:10-40 read tile[threadIdx.y][threadIdx.x] of tile, 4\n"
              "4:3-40 write c[0] of c, 4\n");
}

TEST(Sites, FieldsAndReferences) {
  expectSites("struct S { int a; float b[2]; };\n"
              "__global__ void k(S* s, int i) {\n"
              "  s->a = 1;\n"
              "  int& r = s[i].a;\n"
              "  r = r + 1;\n"
              "  s[i].b[1] = 2;\n"
              "}\n",
              "3:3-11 write s->a of s, 4\n"
              "5:7-8 read r of r, 4\n"
              "5:3-12 write r of r, 4\n"
              "6:3-16 write s[i].b[1] of s[i].b, 4\n");
}

TEST(Sites, TemplatesHaveTheTextOfTheirSource) {
  expectSites("template <typename T> __device__ void put(T* out, T value) {\n"
              "  out[threadIdx.x] = value;\n"
              "}\n"
              "__global__ void k(int* a, double* b) {\n"
              "  put(a, 1);\n"
              "  put(b, 2.0);\n"
              "}\n",
              "2:3-27 write out[threadIdx.x] of out, 4\n"
              "2:3-27 write out[threadIdx.x] of out, 8\n");
}

TEST(Sites, MacrosStandWhereTheyAreUsed) {
  expectSites("#define AT(p, i) (p)[(i) + 1]\n"
              "__global__ void k(int* a, int i) {\n"
              "  AT(a, i) = 5;\n"
              "}\n",
              "3:3-15 write (a)[(i) + 1] of a, 4\n");
}

TEST(Sites, ArgumentsOfHeaderFunctionsAreToldApart) {
  expectSites("__global__ void k(float* a, float* b, float4* v, int i) {\n"
              "  atomicExch(&a[i], b[1]);\n"
              "  a[2] = __ldg(b + i);\n"
              "  int old = atomicCAS((int*)a, 0, 1);\n"
              "  __stcs(&v[i], __ldcs(v + 1));\n"
              "}\n",
              "2:21-25 read b[1] of b, 4\n"
              "2:3-26 atomic a[i] of a, 4\n"
              "3:10-22 read b[i] of b, 4\n"
              "3:3-22 write a[2] of a, 4\n"
              "4:13-37 atomic *a of a, 4\n"
              "5:17-30 read v[1] of v, 16\n"
              "5:3-31 write v[i] of v, 16\n");
}

TEST(Sites, PrintfsArgumentsHaveNone) {
  expectSites("#include <cstdio>\n"
              "__global__ void k(int* c) { printf(\"%d %d\\n\", threadIdx.x, c[0]); }\n",
              "2:60-64 read c[0] of c, 4\n");
}

TEST(Sites, CopiesOfLargeObjectsHaveBothSides) {
  expectSites("struct Big { int a[100]; };\n"
              "__global__ void k(Big* s, Big* t) { s[1] = t[2]; }\n",
              "2:37-48 write s[1] of s, 400\n"
              "2:44-48 read t[2] of t, 400\n");
}

TEST(Sites, KnowTheTypeOfAValue) {
  auto program = compileSource("struct __half { unsigned short bits; };\n"
                               "struct __nv_bfloat16 { unsigned short bits; };\n"
                               "__global__ void k(unsigned char* c, short* s, float* f, float2* pair,\n"
                               "                  __half* h, __nv_bfloat16* b) {\n"
                               "  c[0] = 1;\n"
                               "  s[0] = 1;\n"
                               "  atomicAdd(&f[0], 1.0f);\n"
                               "  pair[0] = pair[1];\n"
                               "  h[0] = h[1];\n"
                               "  b[0] = b[1];\n"
                               "}\n",
                               anyHeaders());
  ASSERT_TRUE(program) << program.error().message;
  std::map<unsigned, std::pair<ValueType, unsigned>> types;
  for (const Site& site : program->facts.sites) types[site.where.line] = {site.type, site.typeBytes};
  EXPECT_EQ(types[5], std::pair(ValueType::Unsigned, 1u));
  EXPECT_EQ(types[6], std::pair(ValueType::Signed, 2u));
  EXPECT_EQ(types[7], std::pair(ValueType::Real, 4u));
  EXPECT_EQ(types[8], std::pair(ValueType::Other, 0u));
  EXPECT_EQ(types[9], std::pair(ValueType::Real, 2u));
  EXPECT_EQ(types[10], std::pair(ValueType::BrainFloat, 2u));
}

} // namespace
} // namespace kcheck::frontend
