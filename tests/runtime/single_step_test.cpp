// One instruction that runs alone: memory that is shown to it, and hidden behind it.
#include "instrument/runtime/core/single_step.h"

#include <gtest/gtest.h>

#include <csignal>

#include <sys/mman.h>

namespace kcheck::runtime {
namespace {

constexpr std::size_t kPage = 4096;
volatile int* page = nullptr;
unsigned faults = 0;

void protect(int protection) { mprotect(const_cast<int*>(page), kPage, protection); }
void hide() { protect(PROT_NONE); }

void show(int, siginfo_t*, void* state) {
  ++faults;
  protect(PROT_READ | PROT_WRITE);
  runAlone(state, hide);
}

class SingleStep : public testing::Test {
protected:
  void SetUp() override {
    void* memory = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    page = static_cast<int*>(memory);
    struct sigaction action{};
    action.sa_sigaction = show;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &before);
    faults = 0;
  }
  void TearDown() override {
    sigaction(SIGSEGV, &before, nullptr);
    munmap(const_cast<int*>(page), kPage);
  }
  struct sigaction before{};
};

TEST_F(SingleStep, ShowsMemoryToOneInstruction) {
  page[0] = 7;
  EXPECT_EQ(faults, 1u);
  EXPECT_EQ(page[0], 7);
  EXPECT_EQ(faults, 2u);
  page[1] = page[0] + 1;
  EXPECT_EQ(faults, 4u);
  protect(PROT_READ);
  EXPECT_EQ(page[1], 8);
  EXPECT_EQ(faults, 4u);
}

TEST_F(SingleStep, LeavesBreakpointsToTheProgram) {
  page[0] = 7;
  EXPECT_EXIT(
      {
        asm volatile("int3");
        _exit(0);
      },
      testing::KilledBySignal(SIGTRAP), "");
}

} // namespace
} // namespace kcheck::runtime
