// The PTX parser alone.
#include "ptx/statement.h"

#include <gtest/gtest.h>

namespace kcheck::ptx {
namespace {

std::vector<Statement> parsed(const std::string& text) {
  std::string failure;
  auto statements = parse(text, failure);
  EXPECT_TRUE(statements) << failure;
  return statements.value_or(std::vector<Statement>{});
}

TEST(PtxStatement, splitsOpcodeAndOperands) {
  auto all = parsed("add.sat.s32 $0, $1, -5;");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].opcode, (std::vector<std::string>{"add", "sat", "s32"}));
  ASSERT_EQ(all[0].operands.size(), 3u);
  EXPECT_EQ(all[0].operands[1].number, 1u);
  EXPECT_EQ(all[0].operands[2].bits, std::uint64_t(-5));
}

TEST(PtxStatement, takesFtzBehindTheType) {
  auto all = parsed("lg2.approx.f32.ftz $0, $1;");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].opcode, (std::vector<std::string>{"lg2", "approx", "ftz", "f32"}));
}

TEST(PtxStatement, knowsScopesFromVectors) {
  auto all = parsed("{ .reg .b32 a, b; mov.b64 {a, b}, $1; add.u32 $0, a, b; }");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].isDeclaration);
  EXPECT_EQ(all[0].operands.size(), 2u);
  EXPECT_EQ(all[1].operands[0].kind, Operand::Kind::Vector);
  EXPECT_EQ(all[1].operands[0].parts[1].name, "b");
}

TEST(PtxStatement, readsGuardsPairsAndAddresses) {
  auto all = parsed("@!p shfl.sync.up.b32 $0|p, $1, $2, 0x0, 0xffffffff; ld.global.u32 r1, [rd+16];");
  ASSERT_EQ(all.size(), 2u);
  ASSERT_TRUE(all[0].guard);
  EXPECT_TRUE(all[0].guard->negated);
  EXPECT_EQ(all[0].operands[0].kind, Operand::Kind::Pair);
  EXPECT_EQ(all[0].operands[4].bits, 0xffffffffu);
  EXPECT_EQ(all[1].operands[1].kind, Operand::Kind::Address);
  EXPECT_EQ(all[1].operands[1].offset, 16);
}

TEST(PtxStatement, readsFloatsLabelsAndComments) {
  auto all = parsed("again: // a label\n mul.f32 f1, f2, 0f3F800000; /* and */ @p bra again;");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].label, "again");
  EXPECT_EQ(all[1].operands[2].bits, 0x3F800000u);
  EXPECT_EQ(all[1].operands[2].floatBits, 32u);
  EXPECT_EQ(all[2].operands[0].name, "again");
}

TEST(PtxStatement, declaresRangesOfRegisters) {
  auto all = parsed(".reg .f32 f<4>;");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].operands[0].number, 4u);
}

TEST(PtxStatement, namesLabelsThatAreUnique) {
  auto all = parsed("loop_${:uid}: add.u32 $0, $0, 1; @p bra loop_${:uid};");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].label, all[2].operands[0].name);
}

TEST(PtxStatement, passesOverLinesAndPragmas) {
  auto all =
      parsed(".pragma \"nounroll\";\n.loc 1 2 3\nmov.u32 $0, 1;\n\t.loc 1 3 1\n\tmov.u32 $1, 2;\n.loc 1 4 1");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].opcode, std::vector<std::string>{"pragma"});
  EXPECT_EQ(all[1].text, "mov.u32 $0, 1");
  EXPECT_EQ(all[2].text, "mov.u32 $1, 2");
}

TEST(PtxStatement, knowsPartsOfRegisters) {
  auto all = parsed("vadd.u32.u32.u32 r.h1, $1.b2, ${2}.h0, %tid.x;");
  ASSERT_EQ(all.size(), 1u);
  const auto& o = all[0].operands;
  ASSERT_EQ(o.size(), 4u);
  EXPECT_EQ(o[0].name + "|" + o[0].part, "r|h1");
  EXPECT_EQ(o[1].part, "b2");
  EXPECT_EQ(o[2].number, 2u);
  EXPECT_EQ(o[2].part, "h0");
  EXPECT_EQ(o[3].name, "tid.x");
}

TEST(PtxStatement, saysWhatItDoesNotUnderstand) {
  std::string failure;
  EXPECT_FALSE(parse("mov.u32 $0, 1; add.u32 $0, ??, 2;", failure));
  EXPECT_EQ(failure, "add.u32 $0, ??, 2");
}

} // namespace
} // namespace kcheck::ptx
