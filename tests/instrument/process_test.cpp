// The child process: how it ended is told exactly, and nothing of it stays behind.
#include "instrument/pass/process.h"
#include "instrument/pass/temporary.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace kcheck::instrument {
namespace {

ProcessOptions shell(const std::string& script) {
  ProcessOptions options;
  options.arguments = {"/bin/sh", "-c", script};
  return options;
}

TEST(Process, tellsExitStatusAndSignal) {
  auto ended = runProcess(shell("exit 7"));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exitStatus, 7);
  EXPECT_EQ(ended->signal, 0);
  ended = runProcess(shell("kill -SEGV $$"));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->signal, SIGSEGV);
}

TEST(Process, stopsAtTheTimeout) {
  auto options = shell("sleep 30");
  options.timeoutSeconds = 0.2;
  auto ended = runProcess(options);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->timedOut);
  EXPECT_LT(ended->seconds, 10);
}

TEST(Process, leavesNoDescendantBehind) {
  auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  std::string file = folder->path() + "/pid";
  // The grandchild has a session of its own, so killing the group does not reach it.
  auto ended = runProcess(shell("setsid sleep 30 & echo $! > " + file));
  ASSERT_TRUE(ended);
  pid_t grandchild = 0;
  std::ifstream(file) >> grandchild;
  ASSERT_GT(grandchild, 0);
  EXPECT_EQ(kill(grandchild, 0), -1);
}

TEST(Process, passesTheEnvironmentOn) {
  auto options = shell("test \"$KCHECK_TEST\" = yes && test -n \"$PATH\"");
  options.environment = {"KCHECK_TEST=yes"};
  auto ended = runProcess(options);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exitStatus, 0);
}

TEST(Process, saysWhyAProgramCannotStart) {
  ProcessOptions options;
  options.arguments = {"/does/not/exist"};
  auto ended = runProcess(options);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "cannot start /does/not/exist: No such file or directory");
}

TEST(Temporary, folderIsGoneAfterwards) {
  std::string path;
  {
    auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder);
    path = folder->path();
    EXPECT_TRUE(writeFile(path + "/file", "content"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Temporary, saysWhereItCannotWrite) {
  const char* before = std::getenv("TMPDIR");
  std::string kept = before ? before : "";
  setenv("TMPDIR", "/does/not/exist", 1);
  auto folder = TemporaryFolder::make();
  before ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("/does/not/exist"), std::string::npos);
  EXPECT_NE(folder.error().message.find("TMPDIR"), std::string::npos);
}

} // namespace
} // namespace kcheck::instrument
