// Bad input: one plain sentence each, and clang's own messages for what is wrong in the source.
#include "compile_source.h"

#include <gmock/gmock.h>

namespace kcheck::frontend {
namespace {

using testing::HasSubstr;

std::string errorOf(Options options) {
  auto program = compile(options);
  return program ? "no error" : program.error().message;
}

std::string errorOfFile(const std::string& path) {
  Options options;
  options.files = {path};
  return errorOf(options);
}

TEST(BadInput, FilesThatAreNone) {
  TemporaryFolder folder;
  const std::string missing = (folder.path / "missing.cu").string();
  EXPECT_EQ(errorOfFile(missing), "cannot read '" + missing + "': no such file");
  EXPECT_EQ(errorOfFile(folder.path.string()),
            "'" + folder.path.string() + "' is a directory, not a CUDA file");
  const std::string empty = folder.write("empty.cu", " \n");
  EXPECT_EQ(errorOfFile(empty), "'" + empty + "' is empty");
  const std::string binary = folder.write("binary.cu", std::string("\x7f"
                                                                   "ELF\0\0\1",
                                                                   7));
  EXPECT_EQ(errorOfFile(binary), "'" + binary + "' is a binary file, not CUDA source");
}

TEST(BadInput, AToolkitThatIsNone) {
  TemporaryFolder folder;
  Options options;
  options.files = {folder.write("a.cu", "int main() {}\n")};
  options.cudaPath = folder.path.string();
  EXPECT_THAT(errorOf(options), HasSubstr("is no CUDA toolkit: it has no include/cuda_runtime.h"));
}

TEST(BadInput, ASyntaxErrorIsClangsMessageOnce) {
  testing::internal::CaptureStderr();
  Options options;
  options.cudaPath = toolkitPath().empty() ? "none" : toolkitPath();
  auto program = compileSource("__global__ void k(int* c) { c[0] = ; }\n", options);
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message, HasSubstr("program.cu' does not compile"));
  EXPECT_THAT(said, HasSubstr("program.cu:1:36: error: expected expression"));
  EXPECT_EQ(said.find("expected expression"), said.rfind("expected expression"));
}

TEST(BadInput, ASharedVariableWithAValue) {
  testing::internal::CaptureStderr();
  Options options;
  options.cudaPath = toolkitPath().empty() ? "none" : toolkitPath();
  auto program = compileSource("struct V { int a = 1; };\n"
                               "__global__ void k() { __shared__ V v; __shared__ int n = 0; }\n",
                               options);
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(program);
  EXPECT_THAT(said,
              HasSubstr("program.cu:2:54: error: initialization is not supported for __shared__ variables"));
  EXPECT_THAT(said, HasSubstr("shared memory begins without values: let one thread assign them"));
  EXPECT_EQ(said.find("2:36: error"), std::string::npos);
}

TEST(BadInput, MoreSharedArraysThanAKernelMayHave) {
  Options options;
  options.cudaPath = "none";
  auto program = compileSource("__device__ float* half() { __shared__ float h[8192]; return h; }\n"
                               "__global__ void fits() { half()[0] = 1; }\n"
                               "__global__ void k() { __shared__ float s[4097]; s[0] = half()[0]; }\n",
                               options);
  ASSERT_FALSE(program);
  EXPECT_THAT(
      program.error().message,
      HasSubstr("program.cu:3: `k()` has 49156 bytes of shared arrays, of which a kernel may have 49152"));
}

TEST(BadInput, ATemplateOfWhichNoInstanceCanBeMade) {
  Options options;
  options.cudaPath = "none";
  auto program =
      compileSource("template <class F> __global__ void apply(int* a, F f) { a[0] = f(a[0]); }\n", options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_TRUE(program->facts.kernels.empty());
  ASSERT_EQ(program->unchecked.size(), 1u);
  EXPECT_EQ(program->unchecked[0].name, "apply");
  EXPECT_EQ(program->unchecked[0].where.line, 1u);
}

TEST(BadInput, ATemplateBesideKernelsIsToldOf) {
  Options options;
  options.cudaPath = "none";
  auto program = compileSource("template <class F> __global__ void apply(int* a, F f) { a[0] = f(a[0]); }\n"
                               "__global__ void k(int* a) { a[0] = 1; }\n",
                               options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->facts.kernels.size(), 1u);
  EXPECT_EQ(program->unchecked.size(), 1u);
}

TEST(Templates, AreMadeOfStatedTypesWhereNobodyUsesThem) {
  Options options;
  options.cudaPath = "none";
  auto program =
      compileSource("namespace ns { namespace { template <typename T, int N> __global__ void copy(T* a) "
                    "{ __shared__ T s[N]; s[threadIdx.x] = a[0]; } } }\n"
                    "template <typename T> __global__ void shift(T* a) { a[0] <<= 1; }\n"
                    "template <typename T> __global__ void used(T* a) { a[0] = 1; }\n"
                    "template __global__ void used<char>(char*);\n",
                    options);
  ASSERT_TRUE(program) << program.error().message;
  std::vector<std::string> names;
  for (const Kernel& kernel : program->facts.kernels) names.push_back(kernel.name);
  EXPECT_THAT(names,
              testing::UnorderedElementsAre(HasSubstr("copy<float, 128>(float *)"),
                                            HasSubstr("shift<int>(int *)"), HasSubstr("used<char>(char *)")));
}

TEST(BadInput, ClustersOfBlocks) {
  if (toolkitPath().empty()) GTEST_SKIP() << "no CUDA toolkit";
  testing::internal::CaptureStderr();
  Options options;
  options.cudaPath = toolkitPath();
  auto program = compileSource("#include <cooperative_groups.h>\n"
                               "__global__ void k() { cooperative_groups::this_cluster().sync(); }\n",
                               options);
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(program);
  EXPECT_THAT(said, HasSubstr("clusters of thread blocks are not supported"));
}

TEST(BadInput, AnOptionThatClangDoesNotKnow) {
  TemporaryFolder folder;
  Options options;
  options.files = {folder.write("a.cu", "int main() {}\n")};
  options.cudaPath = "none";
  options.clangArguments = {"-fno-such-thing"};
  EXPECT_THAT(errorOf(options), HasSubstr("-fno-such-thing"));
}

} // namespace
} // namespace kcheck::frontend
