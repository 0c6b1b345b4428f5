// "The last block does the rest" and "the first thread stores for all": of the fixture's kernels those that
// are marked wrong are never proved, in no launch.
#include "wrong_kernels.h"

namespace kcheck::analyzer {
namespace {

TEST(LastBlock, NoWrongOneIsProved) {
  const std::string text = fixture("last_blocks.cu");
  const std::vector<std::string> wrong = wrongKernels(text);
  ASSERT_GE(wrong.size(), 20u);
  for (auto& [grid, block] : {std::pair{8u, 64u}, {3u, 256u}}) {
    Analyzed program(text, Analyzed::launch(grid, block));
    for (const std::string& kernel : wrong)
      EXPECT_NE(program.races(kernel), Answer::Proved) << kernel << " in blocks of " << block;
  }
}

TEST(LastBlock, SaysThatTheCounterStartsAtZero) {
  Analyzed program(fixture("last_blocks.cu"), Analyzed::launch(8, 64));
  const auto& assumptions = program.property("direct", Property::RaceFree).assumptions;
  EXPECT_EQ(program.races("direct"), Answer::Proved);
  EXPECT_TRUE(std::any_of(assumptions.begin(), assumptions.end(), [](const std::string& text) {
    return text.find("is 0 when the kernel starts") != std::string::npos;
  }));
}

} // namespace
} // namespace kcheck::analyzer
