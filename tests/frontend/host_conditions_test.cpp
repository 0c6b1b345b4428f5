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
            "6: ?,1,1 m\n");
  EXPECT_EQ(launchesIn("void f(int* d, int n, int m) {\n"
                       "  int a = n;\n"
                       "  for (int i = 0; i < m; ++i) {\n"
                       "    if (a == 64) k<<<1, a>>>(d, nullptr, a);\n"
                       "    a *= 2;\n"
                       "  }\n"
                       "}\n"),
            "5: ?,1,1 a if (a == 64)\n");
  EXPECT_EQ(launchesIn("void f(int* d, int n, int m) {\n"
                       "  int a = m;\n"
                       "  if (n == 64) a = n;\n"
                       "  if (a < 32) k<<<1, a>>>(d, nullptr, n);\n"
                       "}\n"),
            "5: ?,1,1 ((n == 64) ? n : m) if (((n == 64) ? n : m) < 32)\n");
}

TEST(HostConditions, WhatComesBackIsKnown) {
  EXPECT_EQ(
      launchesIn("extern \"C\" [[noreturn]] void end(int);\n"
                 "#define CHECK(c) do { if (!(c)) end(1); } while (0)\n"
                 "static void die(const char* why) { (void)why; end(2); }\n"
                 "static void need(bool ok) { if (!ok) die(\"no\"); }\n"
                 "void f(int* d, int a, int b, int c, int e, int g) {\n"
                 "  CHECK(a < 10);\n"
                 "  need(b < 20);\n"
                 "  (c < 30) ? (void)0 : end(3);\n"
                 "  e < 40 || (end(4), true);\n"
                 "  if (g >= 50) throw 1;\n"
                 "  k<<<1, a + b + c + e + g>>>(d, nullptr, 0);\n"
                 "}\n"),
      "12: ?,1,1 ((((a + b) + c) + e) + g) if (a < 10) if (b < 20) if (c < 30) if (e < 40) if !!(g < 50)\n");
  EXPECT_EQ(launchesIn("void f(int* d, int n, int m) {\n"
                       "  switch (n) { case 32: case 64: break; default: return; }\n"
                       "  switch (m) { case 1: return; case 2: break; }\n"
                       "  k<<<1, n + m>>>(d, nullptr, n);\n"
                       "}\n"),
            "5: ?,1,1 (32 + m) if !(m == 1)\n5: ?,1,1 (64 + m) if !(m == 1)\n");
}

TEST(HostConditions, WhatMayBeSkippedIsNotKnown) {
  EXPECT_EQ(launchesIn("void prepare();\n"
                       "void f(int* d) {\n"
                       "  int n = 1000;\n"
                       "  try { prepare(); n = 64; } catch (...) { k<<<1, n>>>(d, nullptr, n); }\n"
                       "}\n"
                       "void g(int* d, int n, int x) {\n"
                       "  switch (n) { case 1: if (x) { case 300: k<<<1, n>>>(d, nullptr, n); } }\n"
                       "  try { if (n > 256) throw 1; } catch (...) {}\n"
                       "  do { if (n > 128) break; } while (0);\n"
                       "  k<<<1, n>>>(d, nullptr, n);\n"
                       "}\n"
                       "void h(int* d, int n) {\n"
                       "  static auto go = [=] { k<<<1, n>>>(d, nullptr, n); };\n"
                       "  auto now = [=] { k<<<1, n>>>(d, nullptr, n); };\n"
                       "  if (n < 256) go();\n"
                       "  if (n < 128) now();\n"
                       "}\n"
                       "void i(int* d, bool b) {\n"
                       "  int n = 1000;\n"
                       "  do { if (b) break; n = 64; } while (0);\n"
                       "  k<<<1, n>>>(d, nullptr, n);\n"
                       "  n = 1000;\n"
                       "  b ?: (n = 64);\n"
                       "  k<<<1, n>>>(d, nullptr, n);\n"
                       "}\n"),
            "5: ?,1,1 n\n8: ?,1,1 n\n11: ?,1,1 n\n14: ?,1,1 n\n15: ?,1,1 n if (n < 128)\n22: ?,1,1 n\n"
            "25: ?,1,1 n\n");
}

TEST(HostConditions, NumbersAreWhatTheyWereMade) {
  EXPECT_EQ(launchesIn("static int most(int n) { if (n < 256) return n; return 256; }\n"
                       "void f(int* d, int n, int m, int p) {\n"
                       "  if (n > 256) n = 256;\n"
                       "  k<<<1, n>>>(d, nullptr, n);\n"
                       "  m = m < 128 ? m : 128;\n"
                       "  k<<<1, m>>>(d, nullptr, m);\n"
                       "  k<<<1, most(p)>>>(d, nullptr, m);\n"
                       "  if ((p - 300) >> 1 == -1) k<<<1, p>>>(d, nullptr, p);\n"
                       "  for (int i = 0; i < p; ++i) { k<<<1, m>>>(d, nullptr, p); if (i) m = p; }\n"
                       "}\n"),
            "5: ?,1,1 ((256 < n) ? 256 : n)\n"
            "7: ?,1,1 ((m < 128) ? m : 128)\n"
            "8: ?,1,1 ((p < 256) ? p : 256)\n"
            "9: ?,1,1 p unfollowed 9\n"
            "10: ?,1,1 m if (i < p)\n");
}

TEST(HostConditions, BranchesThatGiveNumbers) {
  EXPECT_EQ(
      launchesIn("#include <algorithm>\n"
                 "void f(int* d, int m) {\n"
                 "  int b;\n"
                 "  if (m < 1) b = 32; else if (m < 2) b = 64; else b = 256;\n"
                 "  k<<<1, b>>>(d, nullptr, 0);\n"
                 "  switch (m) { case 0: b = 1; break; case 1: b = 2; break; default: b = 3; }\n"
                 "  k<<<1, b>>>(d, nullptr, 0);\n"
                 "  k<<<1, std::clamp(m, 1, 256)>>>(d, nullptr, 0);\n"
                 "  while (m > 256) m /= 2;\n"
                 "  k<<<1, m>>>(d, nullptr, 0);\n"
                 "}\n"
                 "void g(int* d, int m, bool y) {\n"
                 "  int b = 9;\n"
                 "  switch (m) { case 0: if (y) break; b = 1; break; }\n"
                 "  k<<<1, b>>>(d, nullptr, 0);\n"
                 "}\n"),
      "6: ?,1,1 (!(m < 1) ? (!(m < 2) ? 256 : ((m < 2) ? 64 : ((m < 1) ? 32 : b))) : ((m < 1) ? 32 : b))\n"
      "8: ?,1,1 (!((m == 0) || (m == 1)) ? 3 : ((m == 1) ? 2 : ((m == 0) ? 1 : "
      "(!(m < 1) ? (!(m < 2) ? 256 : ((m < 2) ? 64 : ((m < 1) ? 32 : b))) : ((m < 1) ? 32 : b)))))\n"
      "9: ?,1,1 ((m < 1) ? 1 : ((256 < m) ? 256 : m))\n"
      "11: ?,1,1 m if !(256 < m)\n"
      "16: ?,1,1 b\n");
}

TEST(HostConditions, ValuesOfOtherRoundsAndOfCalleesAreNotThese) {
  EXPECT_EQ(launchesIn("static void run(int&& n) { n *= 5; k<<<1, n>>>(nullptr, nullptr, n); }\n"
                       "void f() { run(64); }\n"
                       "void g(int* d, int n, bool b) {\n"
                       "  switch (n) { case 32: break; case 300: if (b) break; return; default: return; }\n"
                       "  k<<<1, n>>>(d, nullptr, n);\n"
                       "}\n"
                       "void h(int* d, int n, bool b) {\n"
                       "  do { if (b) break; if (n > 256) return; } while (0);\n"
                       "  k<<<1, n>>>(d, nullptr, n);\n"
                       "}\n"),
            "2: ?,1,1\n6: 32,1,1\n6: 300,1,1\n10: ?,1,1 n\n");
  Options options;
  options.wantHost = false;
  auto program = compileSource(kKernel + std::string("void f(int n) {\n"
                                                     "  static int* d = nullptr;\n"
                                                     "  if (!d) cudaMalloc(&d, n * sizeof(int));\n"
                                                     "  k<<<1, n>>>(d, nullptr, n);\n"
                                                     "  int* e = nullptr;\n"
                                                     "  cudaMalloc(&e, n * sizeof(int));\n"
                                                     "  k<<<1, n>>>(e, nullptr, n);\n"
                                                     "}\n"),
                               options);
  ASSERT_TRUE(program);
  ASSERT_EQ(program->facts.allocations.size(), 2u);
  EXPECT_FALSE(program->facts.allocations[0].formula);
  EXPECT_TRUE(program->facts.allocations[1].formula);
}

TEST(HostConditions, LaunchesThatComeAreNotLeftOut) {
  EXPECT_EQ(
      launchesIn(
          "static void f(int* d, int n) {\n"
          "  switch (n) { case 1: k<<<1, 1>>>(d, nullptr, n); break; default: k<<<2, n>>>(d, nullptr, n); }\n"
          "  switch (n) { case 8: return; }\n"
          "  k<<<3, n>>>(d, nullptr, n);\n"
          "}\n"
          "void g(int* d) { f(d, 8); f(d, 1); }\n"),
      "3: 1,1,1\n3: 8,1,1\n5: 1,1,1\n");
  EXPECT_EQ(launchesIn("bool ready();\n"
                       "void f(int* d, int n) {\n"
                       "  while (true) { if (ready()) goto done; }\n"
                       "done:\n"
                       "  k<<<1, n>>>(d, nullptr, n);\n"
                       "}\n"),
            "6: ?,1,1 n\n");
}

TEST(HostConditions, ChoicesOnChoicesComeToAnEnd) {
  std::string host = "void f(int* d, int n, int m) {\n";
  for (int i = 0; i < 40; ++i) host += "  if (n > m + " + std::to_string(i) + ") n = n / 2 + n % 3;\n";
  EXPECT_NE(launchesIn(host + "  k<<<1, n>>>(d, nullptr, n);\n}\n"), "");
}

TEST(HostConditions, FieldsOfStructures) {
  EXPECT_EQ(launchesIn("struct P { int n, m; };\n"
                       "void f(int* d, P p) { if (p.n < 64) k<<<1, p.n>>>(d, nullptr, p.m); }\n"
                       "void g(int* d, P p) { p.n = p.m; if (p.n < 64) k<<<1, p.n>>>(d, nullptr, p.m); }\n"
                       "struct S {\n"
                       "  explicit S(int n) : n(n), m(n) {}\n"
                       "  void run(int* d) { if (n > 64) return; k<<<1, n>>>(d, nullptr, n); }\n"
                       "  void grow(int* d) { if (m > 64) return; more(); k<<<1, m>>>(d, nullptr, m); }\n"
                       "  void more() { m += 64; }\n"
                       "  int n, m;\n"
                       "};\n"
                       "struct W {\n"
                       "  W(int* d, int w) : w(w) { if (this->w > 9) return; this->w += 9; k<<<1, "
                       "this->w>>>(d, nullptr, 0); }\n"
                       "  int w;\n"
                       "};\n"
                       "struct V {\n"
                       "  void run(int* d, const V& o) { if (v > 9) return; *this = o;\n"
                       "    k<<<1, v>>>(d, nullptr, v); }\n"
                       "  int v;\n"
                       "};\n"
                       "void loop(int* d, int n) { while (n < 9 && ++n) k<<<1, n>>>(d, nullptr, n); }\n"),
            "3: ?,1,1 n if (n < 64)\n4: ?,1,1 unfollowed 4\n7: ?,1,1 n if !(64 < n)\n8: ?,1,1 unfollowed 8\n"
            "13: ?,1,1 unfollowed 13\n18: ?,1,1 unfollowed 17\n21: ?,1,1 n\n");
}

TEST(HostConditions, MacrosAreTextLikeAnyOther) {
  EXPECT_EQ(launchesIn("#define RUN(b, x) do { if (x) b = 64; k<<<1, b>>>(d, nullptr, 0); b = 8; k<<<1, "
                       "b>>>(d, nullptr, 0); } while (0)\n"
                       "void f(int* d, bool x) { int b = 300; RUN(b, x); }\n"),
            "3: ?,1,1 (!(x == 0) ? 64 : 300)\n3: 8,1,1\n");
}

TEST(HostConditions, BodiesOfLoopsKnowTheirCondition) {
  EXPECT_EQ(
      launchesIn("void f(int* d, int m, int n) {\n"
                 "  for (n = 1; n <= m && n <= 256; n++) k<<<1, n>>>(d, nullptr, n);\n"
                 "  while (m < 100) { k<<<1, m>>>(d, nullptr, m); m += 7; k<<<1, m>>>(d, nullptr, m); }\n"
                 "  for (int i = 0; i < n; i += 9) k<<<1, n - i>>>(d, nullptr, i & 7);\n"
                 "  for (; n < 50; k<<<1, n>>>(d, nullptr, n)) n += 40;\n"
                 "}\n"),
      "3: ?,1,1 n if !(m < n) if !(256 < n)\n"
      "4: ?,1,1 m if (m < 100) unfollowed 3\n"
      "4: ?,1,1 m unfollowed 3\n"
      "5: ?,1,1 (n - i) if !(!(m < n) && !(256 < n)) if (i < n)\n"
      "6: ?,1,1 n unfollowed 3\n");
}

TEST(HostConditions, LoopsStepUpToTheirLimit) {
  const auto most = [](const std::string& body) {
    Options options;
    options.wantHost = false;
    auto program = compileSource(kKernel + std::string("void f(int* d, int m, bool b) { int n = 1; ") + body +
                                     " k<<<1, n>>>(d, nullptr, n); }\n",
                                 options);
    if (!program || program->facts.launches.size() != 1) return std::int64_t(-1);
    const auto& formula = program->facts.launches.front().blockFormulas[0];
    return formula && formula->op == Formula::Op::Variable ? formula->most : std::int64_t(-2);
  };
  EXPECT_EQ(most("while (n < m && n < 256) n *= 2;"), 256);
  EXPECT_EQ(most("n = 3; while (n < m && n <= 100) n <<= 1;"), 200);
  EXPECT_EQ(most("for (; 64 > n && b; n += 9) b = m;"), 64);
  EXPECT_EQ(most("n = 512; while (n > m) n /= 2;"), 512);
  EXPECT_EQ(most("while (n < 200) { if (b) n = 500; n *= 2; }"), 1000);
  EXPECT_EQ(most("while (n < 200 || b) n *= 2;"), INT32_MAX);
  EXPECT_EQ(most("do n *= 2; while (n < 200);"), INT32_MAX);
  EXPECT_EQ(most("while (n < 200) { n *= 2; if (b) n *= 3; }"), INT32_MAX);
  EXPECT_EQ(most("for (n *= m; n < 200;) {}"), INT32_MAX);
  EXPECT_EQ(most("while ((n *= 2) && n < 200) {}"), INT32_MAX);
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
            "9: ?,1,1 a if !(100 < a)\n13: ?,1,1 padded if !(padded < a)\n");
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
            "6: 64,1,1 if (i < n)\n8: 64,2,1 if (i < n)\n10: ?\n15: ? if (i < n)\n19: ?\n21: 16,1,1\n");
}

TEST(HostConditions, AxesAndConfigurations) {
  EXPECT_EQ(launchesIn("void f(int* d, int n) {\n"
                       "  if (n > 256) return;\n"
                       "  dim3 block(32, 2);\n"
                       "  block.x = n;\n"
                       "  k<<<1, block>>>(d, nullptr, n);\n"
                       "  cudaLaunchConfig_t config = {};\n"
                       "  config.gridDim = dim3(1);\n"
                       "  config.blockDim = dim3(n, 3);\n"
                       "  cudaLaunchKernelEx(&config, k, d, (const float*)nullptr, n);\n"
                       "}\n"),
            "6: ?,2,1 n if !(256 < n)\n10: ?,3,1 n if !(256 < n)\n");
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
