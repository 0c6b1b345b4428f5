// The checked program may end as it likes: what was found by then is reported, the exit status is right,
// nothing stays behind.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status = -1;
  std::string report;
  bool leftFiles = false;
};

/// Runs programs/containment.cu to the end that `how` names, with a temporary folder of its own.
Outcome runTo(const std::string& how) {
  fs::path folder = fs::path(testing::TempDir()) / ("containment_" + how);
  fs::remove_all(folder);
  fs::create_directories(folder / "tmp");
  std::string command = "cd '" + folder.string() + "' && TMPDIR='" + (folder / "tmp").string() +
                        "' " KCHECK_PROGRAM " --run --checks=all,-perf --timeout=120 -o report.txt "
                        "'" KCHECK_SOURCE_DIR "/tests/driver/programs/containment.cu' -- " +
                        how + " > output.txt 2>&1";
  int status = std::system(command.c_str());
  std::ifstream report(folder / "report.txt");
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                  std::string(std::istreambuf_iterator<char>(report), {}), !fs::is_empty(folder / "tmp")};
  fs::remove_all(folder);
  return outcome;
}

/// Whether a program that was started with this argument still runs.
bool stillRuns(const std::string& how, const std::string& program = "kcheck") {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf(); // of a process that ends meanwhile: nothing
    const std::string line = text.str();
    if (line.ends_with(std::string("\0", 1) + how + std::string("\0", 1)) &&
        line.find(program) != std::string::npos)
      return true;
  }
  return false;
}

class Containment : public testing::TestWithParam<const char*> {};

TEST_P(Containment, reportsWhatWasFoundByThen) {
  Outcome outcome = runTo(GetParam());
  EXPECT_EQ(outcome.status, 1) << outcome.report;
  EXPECT_THAT(outcome.report, testing::HasSubstr("containment.cu:12:"));
  EXPECT_THAT(outcome.report, testing::HasSubstr("[out-of-bounds]"));
  EXPECT_FALSE(outcome.leftFiles);
  EXPECT_FALSE(stillRuns(GetParam()));
}

/// Starts the program that waits for ever, and sends kcheck the signal once the program runs.
Outcome interruptedBy(int signal, const std::string& how) {
  fs::path folder = fs::path(testing::TempDir()) / ("containment_" + how);
  fs::remove_all(folder);
  fs::create_directories(folder / "tmp");
  pid_t child = fork();
  if (child == 0) {
    fs::current_path(folder);
    setenv("TMPDIR", (folder / "tmp").c_str(), 1);
    if (!std::freopen("output.txt", "w", stdout) || !std::freopen("errors.txt", "w", stderr)) _exit(99);
    execl(KCHECK_PROGRAM, KCHECK_PROGRAM, "--run", "--checks=all,-perf", "--timeout=120", "-o", "report.txt",
          KCHECK_SOURCE_DIR "/tests/driver/programs/containment.cu", "--", how.c_str(), nullptr);
    _exit(98);
  }
  for (int i = 0; i < 600 && !stillRuns(how, std::string("/program\0", 9)); ++i) usleep(50'000);
  usleep(300'000); // its kernel takes less
  kill(child, signal);
  int status = 0;
  waitpid(child, &status, 0);
  std::ifstream report(folder / "report.txt");
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                  std::string(std::istreambuf_iterator<char>(report), {}), !fs::is_empty(folder / "tmp")};
  fs::remove_all(folder);
  return outcome;
}

TEST(Interrupted, ReportsWhatWasSeenAndLeavesNothing) {
  for (auto [signal, how] : {std::pair{SIGINT, "wait"}, {SIGTERM, "wait-too"}}) {
    Outcome outcome = interruptedBy(signal, how);
    EXPECT_EQ(outcome.status, 128 + signal) << outcome.report;
    EXPECT_THAT(outcome.report, testing::HasSubstr("containment.cu:12:"));
    EXPECT_THAT(outcome.report,
                testing::HasSubstr(signal == SIGINT ? "kcheck got SIGINT" : "kcheck got SIGTERM"));
    EXPECT_FALSE(outcome.leftFiles);
    EXPECT_FALSE(stillRuns(how));
  }
}

INSTANTIATE_TEST_SUITE_P(Ends, Containment,
                         testing::Values("end", "crash", "abort", "exit-in-callback", "fork", "fork-and-end",
                                         "print", "recurse", "memory", "heap", "terminate", "kill",
                                         "interrupt", "close", "away", "leave"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
