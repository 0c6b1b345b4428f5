// What branches on the way say of a launch's numbers, and where they say nothing that is followed.
#include "described_facts.h"

#include <fmt/format.h>

namespace kcheck::frontend {
namespace {

/// The numbers of variables of one name, told apart by `'`.
std::map<std::string, std::vector<unsigned>> numbers;

std::string nameOf(const Formula& variable) {
  std::vector<unsigned>& ofName = numbers[variable.variable];
  const auto found = std::ranges::find(ofName, variable.number);
  const auto index = std::size_t(found - ofName.begin());
  if (found == ofName.end()) ofName.push_back(variable.number);
  return variable.variable + std::string(index, '\'');
}

std::string text(const Formula& formula) {
  constexpr const char* kOps[] = {"", "", "+", "-", "*", "/", "%", "<", "==", "!", "&&", "||", "?"};
  const auto operand = [&](std::size_t number) { return text(formula.operands[number]); };
  switch (formula.op) {
  case Formula::Op::Constant: return std::to_string(formula.constant);
  case Formula::Op::Variable: return nameOf(formula);
  case Formula::Op::Not: return "!" + operand(0);
  case Formula::Op::Choice: return fmt::format("({} ? {} : {})", operand(0), operand(1), operand(2));
  default: return fmt::format("({} {} {})", operand(0), kOps[std::size_t(formula.op)], operand(1));
  }
}

std::string text(const std::array<std::optional<Formula>, 3>& axes) {
  std::string result;
  for (const auto& axis : axes)
    if (axis && axis->op != Formula::Op::Constant) result += text(*axis) + " ";
  return result;
}

/// A line for each launch: its block, the formula of that, and its conditions.
std::string launchesIn(const std::string& host) {
  Options options;
  options.wantHost = false;
  auto program = compileSource(kKernel + host, options);
  EXPECT_TRUE(program);
  std::string result;
  if (!program) return result;
  for (const Launch& launch : program->facts.launches) {
    numbers.clear();
    result += fmt::format("{}: {} {}", launch.where.line, kcheck::frontend::text(launch.block),
                          text(launch.blockFormulas));
    for (const Formula& condition : launch.conditions) result += "if " + text(condition) + " ";
    if (launch.unfollowed.known()) result += fmt::format("unfollowed {} ", launch.unfollowed.line);
    result.back() = '\n';
  }
  return result;
}

TEST(HostConditions, BranchesAndReturnsAround) {
  EXPECT_EQ(launchesIn("void f(int* d, int n) {\n"
                       "  if (n < 1) return;\n"
                       "  if (n <= 64 && d) {\n"
                       "    k<<<1, n>>>(d, nullptr, n);\n"
                       "  } else if (n > 512) {\n"
                       "    k<<<1, n>>>(d, nullptr, n);\n"
                       "  }\n"
                       "}\n"),
            "5: ?,1,1 n if !(n < 1) if !(64 < n)\n"
            "7: ?,1,1 n if !(n < 1) if (512 < n) unfollowed 4\n");
}

TEST(HostConditions, EqualNumbersFold) {
  EXPECT_EQ(launchesIn("void f(int* d, int n) {\n"
                       "  if (n == 64) k<<<1, n>>>(d, nullptr, n);\n"
                       "  if (!(n != 32) && d) k<<<1, n>>>(d, nullptr, n);\n"
                       "  switch (n) {\n"
                       "  case 1:\n"
                       "  case 2: k<<<1, n>>>(d, nullptr, n); break;\n"
                       "  default: k<<<1, n>>>(d, nullptr, n);\n"
                       "  }\n"
                       "}\n"),
            "3: 64,1,1\n4: 32,1,1\n7: 1,1,1\n7: 2,1,1\n8: ?,1,1 n if !((n == 1) || (n == 2))\n");
}

TEST(HostConditions, NumbersThatChangeAreNotHeldToWhatWasAsked) {
  EXPECT_EQ(launchesIn("void f(int* d, int n, int m) {\n"
                       "  int a = n;\n"
                       "  if (a > 64) return;\n"
                       "  a = m;\n"
                       "  k<<<1, a>>>(d, nullptr, a);\n"
                       "}\n"),
            "6: ?,1,1 m unfollowed 4\n");
  EXPECT_EQ(launchesIn("void f(int* d, int n, int m) {\n"
                       "  int a = n;\n"
                       "  for (int i = 0; i < m; ++i) {\n"
                       "    if (a == 64) k<<<1, a>>>(d, nullptr, a);\n"
                       "    a *= 2;\n"
                       "  }\n"
                       "}\n"),
            "5: ?,1,1 unfollowed 5\n");
  EXPECT_EQ(launchesIn("void f(int* d, int n, int m) {\n"
                       "  int a = m;\n"
                       "  if (n == 64) a = n;\n"
                       "  if (a < 32) k<<<1, a>>>(d, nullptr, n);\n"
                       "}\n"),
            "5: ?,1,1 a if (a < 32)\n");
}

TEST(HostConditions, RoundsOfLoopsHaveNumbersOfTheirOwn) {
  EXPECT_EQ(launchesIn("int next();\n"
                       "void f(int n) {\n"
                       "  int* d = nullptr;\n"
                       "  int a = 0;\n"
                       "  while (n-- > 0) {\n"
                       "    a = next();\n"
                       "    if (a > 100) continue;\n"
                       "    k<<<1, a>>>(d, nullptr, a);\n"
                       "  }\n"
                       "  int padded = 1;\n"
                       "  while (padded < a) padded *= 2;\n"
                       "  k<<<1, padded>>>(d, nullptr, padded);\n"
                       "}\n"),
            "9: ?,1,1 a if !(100 < a)\n13: ?,1,1 padded\n");
}

TEST(HostConditions, CallersAskForThoseTheyCall) {
  EXPECT_EQ(launchesIn("static void run(int* d, int n) { k<<<1, n>>>(d, nullptr, n); }\n"
                       "void f(int* d, int n) { if (n % 32 == 0) run(d, n); }\n"
                       "void g(int* d, int m) { if (m == 8) run(d, m); }\n"
                       "int big(int n);\n"
                       "void h(int* d, int m) { if (big(m)) run(d, m); }\n"),
            "2: ?,1,1 n if ((n % 32) == 0)\n2: 8,1,1\n2: ?,1,1 m unfollowed 6\n");
}

TEST(HostConditions, RecursionKnowsOnlyItsInnermostCall) {
  EXPECT_EQ(launchesIn("static void f(int* d, int n) {\n"
                       "  if (n == 64) k<<<1, n>>>(d, nullptr, n);\n"
                       "  else if (n == 128) f(d, n / 2 + 1);\n"
                       "  else k<<<1, n>>>(d, nullptr, n);\n"
                       "}\n"
                       "void g(int* d, int m) { f(d, m); }\n"),
            "3: 64,1,1\n5: 65,1,1\n5: ?,1,1 m if !(m == 64) if !(m == 128)\n");
  EXPECT_EQ(launchesIn("int next();\n"
                       "static void f(int* d, int depth) {\n"
                       "  int n = next();\n"
                       "  if (n < 100) f(d, n);\n"
                       "  k<<<1, n>>>(d, nullptr, depth);\n"
                       "}\n"),
            "6: ?,1,1 n if (n' < 100)\n");
}

TEST(HostConditions, ShapesAreThoseLastGiven) {
  EXPECT_EQ(launchesIn("void f(int* d, int n, bool b) {\n"
                       "  dim3 block(256);\n"
                       "  for (int i = 0; i < n; ++i) {\n"
                       "    block = dim3(64);\n"
                       "    k<<<1, block>>>(d, nullptr, n);\n"
                       "    block.y = 2;\n"
                       "    k<<<1, block>>>(d, nullptr, n);\n"
                       "  }\n"
                       "  k<<<1, block>>>(d, nullptr, n);\n"
                       "}\n"
                       "void g(int* d, int n, bool b) {\n"
                       "  dim3 block(256);\n"
                       "  for (int i = 0; i < n; ++i) {\n"
                       "    k<<<1, block>>>(d, nullptr, n);\n"
                       "    block = dim3(64);\n"
                       "  }\n"
                       "  if (b) block = dim3(32);\n"
                       "  k<<<1, block>>>(d, nullptr, n);\n"
                       "  block = dim3(16);\n"
                       "  k<<<1, block>>>(d, nullptr, n);\n"
                       "}\n"),
            "6: 64,1,1\n8: 64,2,1\n10: ?\n15: ?\n19: ?\n21: 16,1,1\n");
}

TEST(HostConditions, KernelsThatHelpersAreHanded) {
  EXPECT_EQ(launchesIn("template <class K, class... A> void start(K kernel, dim3 block, A... a) {\n"
                       "  kernel<<<1, block>>>(a...);\n"
                       "}\n"
                       "void f(int* d, int n) {\n"
                       "  start(k, 64, d, nullptr, 3);\n"
                       "  if (n < 32) start(k, dim3(n), d, nullptr, n);\n"
                       "}\n"),
            "3: 64,1,1\n3: ?,1,1 n if (n < 32)\n");
}

} // namespace
} // namespace kcheck::frontend
