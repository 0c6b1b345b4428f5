// Headers that come precompiled are told from those that do not by nothing but the time they take.
#include "compile_source.h"

#include <gmock/gmock.h>

namespace kcheck::frontend {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kProgram = R"(#include <cooperative_groups.h>
#include <vector>
#ifndef SIZE
#define SIZE 32
#endif
namespace cg = cooperative_groups;
template <typename T> struct Twice { __host__ __device__ T operator()(T x) const { return x + x; } };
__managed__ int total;
template <typename F> __global__ void apply(int* p, F f) {
  __shared__ int s[SIZE];
  cg::thread_block block = cg::this_thread_block();
  s[threadIdx.x] = f(p[blockIdx.x * blockDim.x + threadIdx.x]);
  block.sync();
  atomicAdd(&total, s[SIZE - 1 - threadIdx.x]);
}
int main() {
  std::vector<int> host(SIZE * 2);
  int* p;
  cudaMalloc(&p, host.size() * sizeof(int));
  cudaMemcpy(p, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  apply<<<2, SIZE>>>(p, Twice<int>());
  cudaDeviceSynchronize();
  cudaFree(p);
})";

class Precompiled : public testing::Test {
protected:
  Precompiled() { setenv("KCHECK_CACHE", (folder.path / "cache").c_str(), 1); }
  ~Precompiled() override { unsetenv("KCHECK_CACHE"); }

  std::vector<std::filesystem::path> kept() const {
    std::vector<std::filesystem::path> files;
    if (std::filesystem::exists(folder.path / "cache"))
      for (const auto& entry : std::filesystem::directory_iterator(folder.path / "cache"))
        if (entry.path().extension() == ".pch") files.push_back(entry.path());
    return files;
  }

  /// What the front end finds in the file, as text.
  std::string found(const std::string& file, Options options = {}) const {
    options.files = {file};
    const OrError<Program> program = compile(options);
    if (!program) return "error: " + program.error().message;
    std::string text = describeSites(program->facts);
    for (const Kernel& kernel : program->facts.kernels) text += kernel.name + " " + kernel.symbol + "\n";
    for (const Launch& launch : program->facts.launches)
      text += launch.kernel + " at line " + std::to_string(launch.where.line) + " with " +
              std::to_string(launch.arguments.size()) + "\n";
    for (const Allocation& allocation : program->facts.allocations) text += allocation.name + "\n";
    return text + (program->hostObjects.at(0).empty() ? "no object" : "an object");
  }

  TemporaryFolder folder;
};

TEST_F(Precompiled, SayTheSame) {
  const std::string file = folder.write("a.cu", kProgram);
  const std::string first = found(file);
  EXPECT_THAT(first, HasSubstr("an object"));
  EXPECT_THAT(kept(), SizeIs(0)); // wanted once
  EXPECT_EQ(found(file), first);
  EXPECT_THAT(kept(), SizeIs(2)); // for the device and the host
  EXPECT_EQ(found(file), first);
  EXPECT_THAT(kept(), SizeIs(2));
}

TEST_F(Precompiled, SayTheSameOfTheHeadersThatKcheckShips) {
  const std::string file = folder.write("a.cu", kProgram);
  Options options;
  options.cudaPath = "none";
  const std::string first = found(file, options);
  EXPECT_THAT(first, HasSubstr("an object"));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(found(file, options), first);
  EXPECT_THAT(kept(), SizeIs(2));
}

TEST_F(Precompiled, AreSharedByFilesAndTheirMacros) {
  const std::string plain = "__global__ void k(int* p) { p[N] = 1; }\n";
  Options options;
  for (const char* macro : {"-DN=1", "-DN=2", "-DN=threadIdx.x"}) {
    options.clangArguments = {macro};
    EXPECT_THAT(found(folder.write("a.cu", plain), options), HasSubstr("p"));
  }
  EXPECT_THAT(kept(), SizeIs(2));
  EXPECT_THAT(found(folder.write("b.cu", "int threads = N;\n"), options), HasSubstr("error"));
  EXPECT_THAT(kept(), SizeIs(2));
}

TEST_F(Precompiled, SeeMacrosOfTheCommandLineWhereTheFileBeginsWithOtherHeaders) {
  folder.write("sized.h", "#pragma once\ninline int size() { return SIZE; }\n");
  const std::string file =
      folder.write("a.cu", "#include <sized.h>\n__global__ void k(int* p) { p[0] = 1; }\nint s[SIZE];\n");
  Options options;
  options.clangArguments = {"-isystem", folder.path.string(), "-DSIZE=4"};
  const std::string first = found(file, options);
  EXPECT_THAT(first, HasSubstr("an object"));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(found(file, options), first);
  options.clangArguments.back() = "-DSIZE=x";
  for (int i = 0; i < 3; ++i) EXPECT_THAT(found(file, options), HasSubstr("error"));
}

TEST_F(Precompiled, AreNotUsedWhereAHeaderHasChanged) {
  folder.write("sized.h", "const int size = 4;\n");
  const std::string file =
      folder.write("a.cu", "#include <sized.h>\n__global__ void k(int* p) { p[size] = 1; }\n");
  Options options;
  options.clangArguments = {"-isystem", folder.path.string()};
  for (int i = 0; i < 3; ++i) EXPECT_THAT(found(file, options), HasSubstr("an object"));
  folder.write("sized.h", "const int renamed = 4; // longer\n");
  EXPECT_THAT(found(file, options), HasSubstr("error"));
  folder.write("sized.h", "const int other = 5, size = 4;\n");
  for (int i = 0; i < 3; ++i) EXPECT_THAT(found(file, options), HasSubstr("an object"));
}

TEST_F(Precompiled, ThatAreBrokenAreLeftAlone) {
  const std::string file = folder.write("a.cu", kProgram);
  const std::string first = found(file);
  found(file);
  ASSERT_THAT(kept(), SizeIs(2));
  for (const auto& path : kept()) std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_EQ(found(file), first);
  for (const auto& path : kept()) std::ofstream(path) << "something else";
  EXPECT_EQ(found(file), first);
}

TEST_F(Precompiled, ErrorsAreThoseOfTheFile) {
  const std::string file = folder.write("a.cu", "__global__ void k(int* p) {\n  p[0] = wrong;\n}\n");
  std::string first;
  for (int i = 0; i < 3; ++i) {
    testing::internal::CaptureStderr();
    found(file);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, HasSubstr("a.cu:2:10: error: use of undeclared identifier 'wrong'"));
    if (i > 0) EXPECT_EQ(said, first);
    first = said;
  }
}

TEST_F(Precompiled, NothingIsKeptWhereThatIsNotWanted) {
  setenv("KCHECK_CACHE", "none", 1);
  const std::string file = folder.write("a.cu", kProgram);
  const std::string first = found(file);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(found(file), first);
  EXPECT_THAT(kept(), SizeIs(0));
  setenv("KCHECK_CACHE", "/proc/nowhere", 1);
  EXPECT_EQ(found(file), first);
}

} // namespace
} // namespace kcheck::frontend
