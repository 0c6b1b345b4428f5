// "The last block does the rest" and "the first thread stores for all": of the fixture's kernels those that
// are marked wrong are never proved, in no launch.
#include "analyzed.h"

#include <sstream>

namespace kcheck::analyzer {
namespace {

std::string fixture() {
  std::ifstream in(std::string(KCHECK_SOURCE_DIR) + "/fixtures/static/last_blocks.cu");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The kernels of the text whose comment begins with "Wrong".
std::vector<std::string> wrongKernels(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  bool isWrong = false;
  const std::string head = "__global__ void ";
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("// Wrong: ", 0) == 0) isWrong = true;
    if (line.rfind(head, 0) != 0) continue;
    if (isWrong) names.push_back(line.substr(head.size(), line.find('(') - head.size()));
    isWrong = false;
  }
  return names;
}

TEST(LastBlock, NoWrongOneIsProved) {
  const std::string text = fixture();
  const std::vector<std::string> wrong = wrongKernels(text);
  ASSERT_GE(wrong.size(), 20u);
  for (auto& [grid, block] : {std::pair{8u, 64u}, {3u, 256u}}) {
    Analyzed program(text, Analyzed::launch(grid, block));
    for (const std::string& kernel : wrong)
      EXPECT_NE(program.races(kernel), Answer::Proved) << kernel << " in blocks of " << block;
  }
}

TEST(LastBlock, SaysThatTheCounterStartsAtZero) {
  Analyzed program(fixture(), Analyzed::launch(8, 64));
  const auto& assumptions = program.property("direct", Property::RaceFree).assumptions;
  EXPECT_EQ(program.races("direct"), Answer::Proved);
  EXPECT_TRUE(std::any_of(assumptions.begin(), assumptions.end(), [](const std::string& text) {
    return text.find("is 0 when the kernel starts") != std::string::npos;
  }));
}

} // namespace
} // namespace kcheck::analyzer
