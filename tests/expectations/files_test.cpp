// Every .cu file of kernels/, fixtures/ and docs/ against the expectations in its comments. The files are
// found, never listed. Further suites, over many files at once: they compile without a CUDA toolkit, and they
// are real CUDA by nvcc's judgement.
#include "batch.h"
#include "child.h"
#include "expectation.h"
#include "machine.h"
#include "source_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kcheck::expectations {
namespace {

namespace fs = std::filesystem;

const fs::path root = KCHECK_SOURCE_DIR;

double secondsAllowed() {
  const char* asked = std::getenv("KCHECK_TEST_TIMEOUT");
  return asked ? std::atof(asked) : 120;
}

std::vector<std::string> cudaFiles() {
  std::vector<std::string> files;
  for (const char* folder : {"kernels", "fixtures", "docs"}) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && entry.path().extension() == ".cu")
        files.push_back(fs::relative(entry.path(), root).string());
  }
  std::ranges::sort(files);
  return files;
}

std::string nameOf(const std::string& file) {
  std::string name = file.substr(0, file.size() - 3);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

std::string caseName(const testing::TestParamInfo<std::string>& info) { return nameOf(info.param); }

/// The first of its files.
std::string batchName(const testing::TestParamInfo<Batch>& info) {
  return "from_" + nameOf(fs::relative(info.param.files.front(), root).string());
}

/// A file in the temporary folder that is gone with the test.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string& extension)
      : path(fs::temp_directory_path() / ("kcheck_expectations_" + std::to_string(getpid()) + extension)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  const fs::path path;
};

ChildResult kcheck(const std::string& file, const fs::path& json, std::vector<std::string> options) {
  std::vector<std::string> command{KCHECK_PROGRAM};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--format=json", "-o", json.string(), (root / file).string()});
  return runChild(command, secondsAllowed());
}

class Expectation : public testing::TestWithParam<std::string> {};
class WithoutToolkit : public testing::TestWithParam<Batch> {};
class Nvcc : public testing::TestWithParam<Batch> {};

/// `// needs: CUDA toolkit`: what kcheck's own headers do not have.
bool needsToolkit(const std::string& file) {
  return contentOf(root / file).find("// needs: CUDA toolkit\n") != std::string::npos;
}

TEST_P(Expectation, IsMet) {
  if (needsToolkit(GetParam()) && findNvcc().empty()) GTEST_SKIP() << "no CUDA toolkit on this machine";
  Expectations expected = parse(contentOf(root / GetParam()));
  TemporaryFile json(".json");
  ChildResult child = kcheck(GetParam(), json.path, {});
  ASSERT_FALSE(child.timedOut) << "not done after " << secondsAllowed() << " s\n" << child.output;
  auto report = nlohmann::ordered_json::parse(contentOf(json.path), nullptr, false);
  ASSERT_FALSE(report.is_discarded()) << "no report; kcheck ended with status " << child.status << "\n"
                                      << child.output;
  std::string all;
  for (const std::string& problem : compare(expected, fs::path(GetParam()).filename(), report))
    all += problem + "\n";
  if (auto wrong = checkExitStatus(expected, child.status, report)) all += *wrong + "\n";
  if (!all.empty()) ADD_FAILURE() << all << "\nwhat was printed:\n" << child.output;
}

std::vector<Batch> batchesIf(bool (*wanted)(const std::string&)) {
  std::vector<fs::path> files;
  for (const std::string& file : cudaFiles())
    if (wanted(file)) files.push_back(root / file);
  return batchesOf(files);
}

std::vector<Batch> allBatches() {
  return batchesIf([](const std::string&) { return true; });
}
std::vector<Batch> batchesWithoutToolkit() {
  return batchesIf([](const std::string& file) { return !needsToolkit(file); });
}

/// Whether the command compiles the files; its words say in which it went wrong.
void expectToCompile(const Batch& batch, std::vector<std::string> command) {
  TemporaryFile source(".cu");
  std::ofstream(source.path) << sourceOf(batch);
  command.push_back(source.path.string());
  ChildResult child = runChild(command, secondsAllowed());
  ASSERT_FALSE(child.timedOut);
  EXPECT_EQ(child.status, 0) << child.output;
}

TEST_P(WithoutToolkit, Compiles) {
  expectToCompile(GetParam(), {KCHECK_PROGRAM, "--arch=" + GetParam().architecture, "--cuda-path=none",
                               "--dump=ir", "-o", "/dev/null"});
}

TEST_P(Nvcc, Compiles) {
  std::string compiler = findNvcc();
  if (compiler.empty()) GTEST_SKIP() << "no nvcc on this machine";
  TemporaryFile object(".cubin"); // nvcc reads host code for it too
  expectToCompile(GetParam(), {compiler, "-arch=" + GetParam().architecture, "-I",
                               (root / "include").string(), "-cubin", "-o", object.path.string()});
}

TEST(Discovery, FindsFilesInEveryFolder) {
  std::vector<std::string> files = cudaFiles();
  for (const char* folder : {"kernels/", "fixtures/", "docs/rules/", "docs/course/"})
    EXPECT_TRUE(std::ranges::any_of(files, [&](const std::string& file) { return file.starts_with(folder); }))
        << folder;
}

TEST(Discovery, EveryExpectationMakesSense) {
  for (const std::string& file : cudaFiles())
    for (const std::string& mistake : parse(contentOf(root / file)).mistakes)
      ADD_FAILURE() << file << ", " << mistake;
}

INSTANTIATE_TEST_SUITE_P(Files, Expectation, testing::ValuesIn(cudaFiles()), caseName);
INSTANTIATE_TEST_SUITE_P(Files, WithoutToolkit, testing::ValuesIn(batchesWithoutToolkit()), batchName);
INSTANTIATE_TEST_SUITE_P(Files, Nvcc, testing::ValuesIn(allBatches()), batchName);

} // namespace
} // namespace kcheck::expectations
