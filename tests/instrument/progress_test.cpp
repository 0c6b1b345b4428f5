// The progress of a run: on a terminal only, taken away at the end.
#include "instrument/pass/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fcntl.h>
#include <new>
#include <pty.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kcheck::instrument {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// A log in which a kernel runs.
class RunningLog {
public:
  RunningLog() : descriptor(memfd_create("log", 0)) {
    if (ftruncate(descriptor, off_t(wire::kCapacity)) != 0) return;
    void* mapped = mmap(nullptr, wire::kCapacity, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    header = new (mapped) wire::Header{};
    header->magic = wire::kMagic;
    header->blocks = 4096;
    header->blocksDone = 120;
    header->findings = 3;
    header->runningKernel = 64;
    auto* record = reinterpret_cast<wire::Record*>(static_cast<std::byte*>(mapped) + 512);
    record->bytes = 48;
    std::strcpy(reinterpret_cast<char*>(record + 1), "transpose(int *, int)");
  }
  ~RunningLog() {
    munmap(header, wire::kCapacity);
    close(descriptor);
  }
  RunningLog(const RunningLog&) = delete;
  RunningLog& operator=(const RunningLog&) = delete;
  int descriptor;
  wire::Header* header = nullptr;
};

/// A terminal whose screen is here.
class Screen {
public:
  Screen() {
    winsize size{25, 80, 0, 0};
    open = openpty(&screen, &terminal, nullptr, nullptr, &size) == 0;
    fcntl(screen, F_SETFL, O_NONBLOCK);
  }
  ~Screen() {
    close(screen);
    close(terminal);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  std::string written() const {
    char text[4096];
    ssize_t bytes = read(screen, text, sizeof text);
    return bytes > 0 ? std::string(text, std::size_t(bytes)) : "";
  }
  int screen = -1, terminal = -1;
  bool open;
};

TEST(Progress, saysKernelBlocksAndFindingsAndIsErased) {
  Screen screen;
  ASSERT_TRUE(screen.open);
  RunningLog log;
  {
    Progress progress(log.descriptor, screen.terminal, std::chrono::milliseconds(0));
    EXPECT_TRUE(progress.isShown());
    progress.show();
    EXPECT_THAT(screen.written(), HasSubstr("transpose(int *, int): 120 of 4096 blocks, 3 findings"));
    log.header->rehearses = 1;
    log.header->findings = 1;
    progress.show();
    EXPECT_THAT(screen.written(), HasSubstr("120 of 4096 blocks in another order, 1 finding\033"));
    log.header->runningKernel = 0; // the launch is over
    progress.show();
    EXPECT_EQ(screen.written(), "\033[K");
    log.header->runningKernel = 64;
    progress.show();
    EXPECT_THAT(screen.written(), Not(EndsWith("\n")));
  }
  EXPECT_EQ(screen.written(), "\033[K");
}

TEST(Progress, saysWhereABlockIsThatDoesNotEnd) {
  Screen screen;
  ASSERT_TRUE(screen.open);
  RunningLog log;
  log.header->runningSite = wire::kNoSite;
  Progress progress(log.descriptor, screen.terminal, std::chrono::milliseconds(0));
  progress.tellPlaces([](std::uint32_t site) { return site + 10; }, std::chrono::milliseconds(0));
  progress.show();
  EXPECT_THAT(screen.written(), HasSubstr("3 findings\033"));
  log.header->runningSite = 7;
  progress.show();
  EXPECT_THAT(screen.written(), HasSubstr("120 of 4096 blocks, 3 findings, still at line 17\033"));
  progress.tellPlaces([](std::uint32_t site) { return site + 10; }, std::chrono::seconds(60));
  log.header->blocksDone = 121;
  progress.show();
  EXPECT_THAT(screen.written(), HasSubstr("121 of 4096 blocks, 3 findings\033"));
}

TEST(Progress, leavesShortRunsAlone) {
  Screen screen;
  ASSERT_TRUE(screen.open);
  RunningLog log;
  {
    Progress progress(log.descriptor, screen.terminal, std::chrono::seconds(60));
    progress.show();
  }
  EXPECT_EQ(screen.written(), "");
}

TEST(Progress, fitsTheTerminal) {
  Screen screen;
  ASSERT_TRUE(screen.open);
  winsize size{25, 40, 0, 0};
  ASSERT_EQ(ioctl(screen.terminal, TIOCSWINSZ, &size), 0);
  RunningLog log;
  Progress progress(log.descriptor, screen.terminal, std::chrono::milliseconds(0));
  progress.show();
  EXPECT_THAT(screen.written(), HasSubstr("...: 120 of 4096 blocks, 3 findings"));
}

TEST(Progress, writesNothingWhereThereIsNoTerminal) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  RunningLog log;
  {
    Progress progress(log.descriptor, ends[1], std::chrono::milliseconds(0));
    EXPECT_FALSE(progress.isShown());
    progress.show();
  }
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), -1);
  close(ends[0]);
  close(ends[1]);
}

} // namespace
} // namespace kcheck::instrument
