// Launch lines: a main for a file that has none, its facts, and one clear sentence for each that is wrong.
#include "compile_source.h"

#include "frontend/launch_line.h"
#include "frontend/source_text.h"

#include <gmock/gmock.h>

namespace kcheck::frontend {
namespace {

using testing::HasSubstr;

const char* const kAdd = "// launch: add<<<8,128>>>(float[1000], float[1000]=iota, 1000)\n"
                         "__global__ void add(float* out, const float* in, int n) {\n"
                         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "  if (i < n) out[i] = in[i] + 1;\n"
                         "}\n"
                         "template <typename T> __global__ void fill(T* p) {}\n";

OrError<Program> compileWith(const std::string& line, const std::string& text = kAdd) {
  Options options;
  options.launchLines = {line};
  return compileSource(text, options);
}

std::string errorWith(const std::string& line, const std::string& text = kAdd) {
  auto program = compileWith(line, text);
  return program ? "no error" : program.error().message;
}

TEST(LaunchLine, BecomesAMainWithFacts) {
  auto program = compileWith("add<<<8,128>>>(float[1000], float[1000]=iota, 1000)");
  ASSERT_TRUE(program) << program.error().message;
  const Facts& facts = program->facts;
  EXPECT_TRUE(facts.hasMain);
  ASSERT_EQ(facts.launches.size(), 1u);
  const Launch& launch = facts.launches[0];
  EXPECT_EQ(launch.origin, LaunchOrigin::Annotation);
  EXPECT_EQ(launch.grid, (Dim3{8, 1, 1}));
  EXPECT_EQ(launch.block, (Dim3{128, 1, 1}));
  EXPECT_EQ(launch.where.line, 1u);
  EXPECT_EQ(launch.where.column, 12u);
  EXPECT_THAT(launch.where.file, HasSubstr("program.cu"));
  ASSERT_EQ(launch.arguments.size(), 3u);
  EXPECT_EQ(launch.arguments[1].text, "float[1000]=iota");
  EXPECT_EQ(launch.arguments[2].value, 1000);
  ASSERT_EQ(facts.allocations.size(), 2u);
  EXPECT_EQ(facts.allocations[0].name, "out");
  EXPECT_EQ(facts.allocations[1].name, "in");
  EXPECT_EQ(facts.allocations[1].bytes, 4000u);
  EXPECT_EQ(facts.allocations[1].where.line, 1u);
  EXPECT_EQ(facts.allocations[1].where.column, 40u);
  EXPECT_THAT(program->hostObjects[0], HasSubstr("cudaLaunchKernel"));
}

TEST(LaunchLine, ThatStandsNowhereHasItsOwnPlace) {
  auto program = compileWith("fill<float4><<<(2,3), dim3(4,4), 4*4>>>(float4[10]=random)");
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->facts.launches.size(), 1u);
  const Launch& launch = program->facts.launches[0];
  EXPECT_EQ(program->facts.kernel(launch.kernel)->name, "fill<float4>(float4 *)");
  EXPECT_EQ(launch.grid, (Dim3{2, 3, 1}));
  EXPECT_EQ(launch.block, (Dim3{4, 4, 1}));
  EXPECT_EQ(launch.sharedBytes, 16u);
  EXPECT_EQ(launch.where.file, "--launch");
  EXPECT_EQ(program->facts.allocations[0].bytes, 160u);
}

TEST(LaunchLine, EveryContentCompiles) {
  auto program =
      compileWith("f<<<1,1>>>(int[4], int[4]=zero, double[4]=2.5, float[4]=random, char[4]=iota, "
                  "int[4]=uninitialized, unsigned[4]=mixed, int[4]=any(-1, 0), 3.5f)",
                  "__global__ void f(int*, int*, double*, float*, char*, int*, unsigned*, int*, float) {}\n");
  EXPECT_TRUE(program) << program.error().message;
}

TEST(LaunchLine, KeepsOtherLaunchesOfTheFile) {
  auto program = compileWith("add<<<8,128>>>(float[1000], float[1000]=iota, 1000)",
                             std::string(kAdd) + "void other() { add<<<1, 1>>>(nullptr, nullptr, 0); }\n");
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->facts.launches.size(), 2u);
  EXPECT_EQ(program->facts.launches[0].origin, LaunchOrigin::LaunchSite);
  EXPECT_EQ(program->facts.launches[0].grid, (Dim3{1, 1, 1}));
  EXPECT_EQ(program->facts.launches[1].origin, LaunchOrigin::Annotation);
}

TEST(LaunchLine, ThatIsWrongSaysHow) {
  EXPECT_THAT(errorWith("add(1)"), HasSubstr("it has no <<<"));
  EXPECT_THAT(errorWith("add<<<1,2"), HasSubstr("it has no >>>"));
  EXPECT_THAT(errorWith("<<<1,2>>>()"), HasSubstr("it names no kernel"));
  EXPECT_THAT(errorWith("add<<<1>>>()"), HasSubstr("needs a grid and a block"));
  EXPECT_THAT(errorWith("add<<<1,2>>>"), HasSubstr("the arguments are missing"));
  EXPECT_THAT(errorWith("add<<<1,2>>>(float[2]"), HasSubstr("a bracket is not closed"));
  EXPECT_THAT(errorWith("add<<<1,2>>>(float[])"), HasSubstr("needs a number of elements"));
  EXPECT_THAT(errorWith("add<<<1,2>>>(float[3]=)"), HasSubstr("has no content after ="));
  EXPECT_THAT(errorWith("none<<<1,2>>>()"), HasSubstr("names the kernel 'none', which no file has"));
  const std::string wrong = errorWith("add<<<1,2>>>(float[3], 4)");
  EXPECT_THAT(wrong, HasSubstr("the launch line 'add<<<1,2>>>(float[3], 4)' does not fit"));
  EXPECT_THAT(wrong, HasSubstr("too few arguments"));
  EXPECT_THAT(errorWith("add<<<1,2>>>()", std::string(kAdd) + "int main() {}\n"),
              HasSubstr("has a main of its own"));
}

TEST(SourceText, SharedBeforeAlignasChangesPlaces) {
  EXPECT_EQ(adaptToClang("__shared__ alignas(16) char a[4];"), "alignas(16) __shared__ char a[4];");
  EXPECT_EQ(adaptToClang("extern __shared__ alignas(B) char a[];"), "alignas(B) extern __shared__ char a[];");
  EXPECT_EQ(adaptToClang("__shared__ alignas(f(1)) alignas(2) int x;"),
            "alignas(f(1)) __shared__ alignas(2) int x;");
  EXPECT_EQ(adaptToClang("// __shared__ alignas(16)\nint x;"), "// __shared__ alignas(16)\nint x;");
}

TEST(SourceText, BracketsOfLaunchesAreJoined) {
  EXPECT_EQ(adaptToClang("k << <1, f(2) >> >(p);"), "k <<< 1, f(2) >>> (p);");
  EXPECT_EQ(adaptToClang("k<<<1,\n2>> > (p);"), "k<<<1,\n2>>>  (p);");
  EXPECT_EQ(adaptToClang("k<t> <<  <1, 2>>>(p);"), "k<t> <<<  1, 2>>>(p);");
  for (const char* same : {"k<<<1, 2>>>(p);", "o << \"<< <1, 2 >> >\"; // << <", "a<b<c<int>> > d; x << y;",
                           "friend O& operator<< <T>(O&, a<b<c<T>> >);", "k<<<g<1>::v, f<h<int>> >()>>>(p);"})
    EXPECT_EQ(adaptToClang(same), same);
}

TEST(SourceText, SizesInBracesAreNamed) {
  EXPECT_EQ(adaptToClang("k<<<1, {2, 2}>>>(p);"), "k<<<1, dim3{2, 2}>>>(p);");
  EXPECT_EQ(adaptToClang("k << <{a, b}, {2}, 0, {} >> >({1});"),
            "k <<< dim3{a, b}, dim3{2}, 0, {} >>> ({1});");
  EXPECT_EQ(adaptToClang("k<<<f({1}), g(1, {2})>>>(p);"), "k<<<f({1}), g(1, {2})>>>(p);");
}

} // namespace
} // namespace kcheck::frontend
