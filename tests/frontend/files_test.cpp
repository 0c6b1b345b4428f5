// Programs of several files: device functions and variables are shared, statics are not.
#include "compile_source.h"

#include <gmock/gmock.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>

namespace kcheck::frontend {
namespace {

using testing::HasSubstr;

OrError<Program> compileFiles(const TemporaryFolder& folder, const std::vector<std::string>& texts,
                              const std::string& toolkit = "none") {
  Options options;
  options.cudaPath = toolkit;
  for (std::size_t i = 0; i < texts.size(); ++i)
    options.files.push_back(folder.write(std::string(1, char('a' + i)) + ".cu", texts[i]));
  return compile(options);
}

TEST(Files, HeadersAreAdaptedToo) {
  TemporaryFolder folder;
  folder.write("run.cuh",
               "__global__ void k(int* p) { __shared__ alignas(16) int x[4]; x[0] = 1; *p = x[0]; }\n"
               "inline void run(int* p) { k << <{2, 2}, 1 >> >(p); }\n");
  auto program = compileFiles(folder, {"#include \"run.cuh\"\nint main() { run(0); }\n"});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->facts.launches.size(), 1u);
  EXPECT_EQ(program->facts.launches[0].where.line, 2u);
}

TEST(Files, ShareDeviceFunctionsAndVariables) {
  TemporaryFolder folder;
  auto program =
      compileFiles(folder, {"extern __device__ int total;\n"
                            "__device__ int helper(int);\n"
                            "static __device__ int own = 1;\n"
                            "static __global__ void s(int* p) { *p = own; }\n"
                            "__global__ void k(int* p) { *p = helper(total); }\n"
                            "int main() { int x; cudaMemcpyFromSymbol(&x, total, 4);\n"
                            "  cudaMemcpyToSymbol(own, &x, 4); k<<<1, 1>>>(0); s<<<1, 2>>>(0); }\n",
                            "__device__ int total;\n"
                            "static __device__ int own = 2;\n"
                            "__device__ int helper(int x) { return x + own; }\n"
                            "static __global__ void s(int* p) { *p = 2 * own; }\n"
                            "void other() { int x; cudaMemcpyToSymbol(own, &x, 4); s<<<1, 3>>>(0); }\n"});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_FALSE(llvm::verifyModule(*program->device, &llvm::errs()));
  EXPECT_EQ(program->hostObjects.size(), 2u);
  EXPECT_TRUE(program->facts.hasMain);
  const llvm::Function* helper = program->device->getFunction("_Z6helperi");
  ASSERT_TRUE(helper);
  EXPECT_FALSE(helper->isDeclaration());
  ASSERT_TRUE(program->device->getNamedValue("total"));
  EXPECT_FALSE(program->device->getNamedValue("total")->isDeclaration());
  // Three kernels, two of the same name; each launch knows its own.
  ASSERT_EQ(program->facts.kernels.size(), 3u);
  ASSERT_EQ(program->facts.launches.size(), 3u);
  for (const Launch& launch : program->facts.launches) {
    const Kernel* kernel = program->facts.kernel(launch.kernel);
    ASSERT_TRUE(kernel) << launch.kernel;
    EXPECT_EQ(kernel->where.file, launch.where.file);
    EXPECT_TRUE(program->device->getFunction(launch.kernel));
    EXPECT_THAT(program->hostObjects[launch.where.file.ends_with("a.cu") ? 0 : 1], HasSubstr(launch.kernel));
  }
  for (const llvm::GlobalVariable& variable : program->device->globals())
    if (variable.getName().contains("own"))
      EXPECT_FALSE(variable.isDeclaration()) << variable.getName().str();
  for (std::size_t i = 0; i < program->facts.sites.size(); ++i) EXPECT_EQ(program->facts.sites[i].id, i);
}

TEST(Files, ThatDefineTheSameKernelAreAnError) {
  TemporaryFolder folder;
  auto program = compileFiles(folder, {"\n__global__ void k(int* p) {}\n", "__global__ void k(int* p) {}\n"});
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message, HasSubstr("kernel k(int *) is defined twice, at "));
  EXPECT_THAT(program.error().message, HasSubstr("a.cu:2 and at "));
  EXPECT_THAT(program.error().message, HasSubstr("b.cu:1"));
}

TEST(Files, InlineFunctionsMayRepeat) {
  TemporaryFolder folder;
  const std::string text = "inline __device__ int one(int* p) { return *p; }\n"
                           "template <typename T> __global__ void t(T* p) { *p = one(p); }\n";
  auto program = compileFiles(
      folder, {text + "void a() { t<<<1, 1>>>((int*)0); }\n", text + "void b() { t<<<1, 2>>>((int*)0); }\n"});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->facts.kernels.size(), 1u);
  EXPECT_EQ(program->facts.sites.size(), 2u); // the second copies are gone
}

TEST(Files, PlainCxxHasHostCodeAlone) {
  TemporaryFolder folder;
  Options options;
  options.cudaPath = "none";
  options.files = {folder.write("a.cu", "__global__ void k() {}\nvoid run() { k<<<1, 1>>>(); }\n"),
                   folder.write("b.cpp", "#include <cuda_runtime.h>\nvoid run();\n"
                                         "int main() { run(); return cudaDeviceSynchronize(); }\n")};
  auto program = compile(options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->facts.kernels.size(), 1u);
  EXPECT_EQ(program->hostObjects.size(), 2u);
  EXPECT_TRUE(program->facts.hasMain);
}

TEST(Files, PathsWithSpacesAndQuotes) {
  TemporaryFolder folder;
  Options options;
  options.cudaPath = "none";
  options.launchLines = {"k<<<1,1>>>(int[4])"};
  options.files = {folder.write("it's \"odd\" $x.cu", "__global__ void k(int* p) { *p = 1; }\n")};
  auto program = compile(options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->facts.sites[0].where.file, options.files[0]);
}

TEST(Files, WithoutKernelsHaveNone) {
  auto program = compileSource("int main() { return 0; }\n");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_TRUE(program->facts.kernels.empty());
  EXPECT_TRUE(program->facts.hasMain);
}

TEST(HostCode, ReachesManagedVariablesThroughTheRuntime) {
  auto program = compileSource("__device__ __managed__ int counter = 5;\n"
                               "__global__ void k() { atomicAdd(&counter, 1); }\n"
                               "int main() { k<<<1, 4>>>(); cudaDeviceSynchronize(); return counter; }\n");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_THAT(program->hostObjects[0], HasSubstr("__cudaRegisterManagedVar"));
  EXPECT_THAT(program->hostObjects[0], HasSubstr("counter.managed"));
}

TEST(HostCode, RegistersWithoutADeviceLinker) {
  auto program =
      compileSource("__device__ int v;\n__global__ void k() { v = 1; }\nint main() { k<<<1, 1>>>(); }\n");
  ASSERT_TRUE(program) << program.error().message;
  for (const char* symbol : {"__cudaRegisterFatBinary", "__cudaRegisterFunction", "__cudaRegisterVar",
                             "__cudaRegisterFatBinaryEnd", "__cudaPushCallConfiguration", "cudaLaunchKernel"})
    EXPECT_THAT(program->hostObjects[0], HasSubstr(symbol));
}

} // namespace
} // namespace kcheck::frontend
