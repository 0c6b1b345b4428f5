// The runtime's own code under AddressSanitizer and UndefinedBehaviorSanitizer: programs of every kind are
// compiled once and linked twice, with the plain runtime and with the sanitized one. The sanitizers must
// have nothing to say, and both programs the same findings and the same end.
#include "frontend/frontend.h"
#include "instrument/instrument.h"
#include "instrument/pass/temporary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace kcheck::instrument {
namespace {

namespace fs = std::filesystem;

/// A program, and how it should end.
struct Case {
  std::string file;
  std::string argument;
};

/// Files of a folder whose names contain one of the words; the wrong ones, which reach more of the runtime
/// than their right twins.
void addFrom(std::vector<Case>& cases, const std::string& folder, const std::vector<std::string>& words) {
  for (const auto& entry : fs::directory_iterator(KCHECK_SOURCE_DIR "/" + folder)) {
    std::string name = entry.path().stem().string();
    bool named = std::ranges::any_of(words, [&](const std::string& word) { return name.find(word) == 0; });
    if (entry.path().extension() == ".cu" && named && !name.ends_with("_fixed"))
      cases.push_back({folder + "/" + entry.path().filename().string(), ""});
  }
}

std::vector<Case> programs() {
  std::vector<Case> cases;
  // Memory, streams, graphs, textures, printf, callbacks, pools, symbols.
  addFrom(cases, "tests/runtime_api/programs", {""});
  addFrom(cases, "fixtures", {"lifetimes_", "kernel_heap", "spin_lock_one", "streams_", "managed_"});
  addFrom(cases, "fixtures/hb", {"cas_stack", "grid_sync", "named_barrier_", "buffers_one", "bytes"});
  // Not memcheck_writes: its wild address lies in the sanitizer's own shadow.
  addFrom(cases, "fixtures/sanitizer", {"synccheck", "memcheck_leaks", "racecheck"});
  for (const char* end : {"end", "crash", "abort", "exit-in-callback", "fork-and-end", "recurse"})
    cases.push_back({"tests/driver/programs/containment.cu", end});
  std::ranges::sort(cases, {}, [](const Case& one) { return one.file + one.argument; });
  return cases;
}

std::string caseName(const testing::TestParamInfo<Case>& info) {
  std::string name = fs::path(info.param.file).stem().string() +
                     (info.param.argument.empty() ? "" : "_" + info.param.argument);
  std::ranges::replace(name, '-', '_');
  return name;
}

std::set<std::string> said(const Observation& seen) {
  std::set<std::string> lines;
  for (const Finding& finding : seen.findings)
    lines.insert(finding.rule + " at line " + std::to_string(finding.where.line));
  return lines;
}

std::string contentOf(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What the sanitizers wrote into files that begin with the path.
std::string complaints(const fs::path& log) {
  std::string text;
  for (const auto& entry : fs::directory_iterator(log.parent_path()))
    if (entry.path().filename().string().starts_with(log.filename().string()))
      text += contentOf(entry.path());
  return text;
}

void PrintTo(const Case& one, std::ostream* out) { *out << one.file << ' ' << one.argument; }

class Sanitized : public testing::TestWithParam<Case> {};

TEST_P(Sanitized, SaysTheSameAndIsClean) {
  frontend::Options compiling;
  compiling.files = {std::string(KCHECK_SOURCE_DIR "/") + GetParam().file};
  auto program = frontend::compile(compiling);
  ASSERT_TRUE(program) << program.error().message;
  std::vector<std::string> unsupported;
  auto object = instrumentDevice(*program->device, program->facts, {}, unsupported);
  ASSERT_TRUE(object) << object.error().message;
  program->hostObjects.push_back(std::move(*object));
  auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);

  Options options;
  if (!GetParam().argument.empty()) options.programArguments = {GetParam().argument};
  options.timeoutSeconds = 60;
  const std::string plain = folder->path() + "/plain", sanitized = folder->path() + "/sanitized";
  auto linked = linkProgram(program->hostObjects, options, plain);
  ASSERT_TRUE(linked) << linked.error().message;
  // The archive that comes first defines everything, so that nothing is taken from the plain one.
  options.linkArguments = {KCHECK_SANITIZED_RUNTIME, "-fsanitize=address,undefined"};
  linked = linkProgram(program->hostObjects, options, sanitized);
  ASSERT_TRUE(linked) << linked.error().message;

  const fs::path log = fs::path(folder->path()) / "complaints";
  setenv("ASAN_OPTIONS", (KCHECK_ASAN_OPTIONS ":log_path=" + log.string()).c_str(), 1);
  setenv("UBSAN_OPTIONS", ("print_stacktrace=1:log_path=" + log.string()).c_str(), 1);
  testing::internal::CaptureStdout(); // the programs' own
  auto expected = runProgram(plain, program->facts, options);
  auto observed = runProgram(sanitized, program->facts, options);
  testing::internal::GetCapturedStdout();
  ASSERT_TRUE(expected) << expected.error().message;
  ASSERT_TRUE(observed) << observed.error().message;
  EXPECT_EQ(complaints(log), "");
  EXPECT_EQ(said(*observed), said(*expected));
  EXPECT_EQ(observed->run.exitStatus, expected->run.exitStatus);
  EXPECT_EQ(observed->run.signal, expected->run.signal);
  EXPECT_EQ(observed->run.timedOut, expected->run.timedOut);
}

INSTANTIATE_TEST_SUITE_P(Programs, Sanitized, testing::ValuesIn(programs()), caseName);

} // namespace
} // namespace kcheck::instrument
