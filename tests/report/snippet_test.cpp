// Carets: byte columns of the source against cells of the terminal.
#include "report/snippet.h"
#include "report/source_reader.h"

#include <gtest/gtest.h>

namespace kcheck {
namespace {

TEST(Snippet, CaretAndTildes) {
  Snippet snippet = makeSnippet("  c[0] += 1;", {3, 12});
  EXPECT_EQ(snippet.text, "  c[0] += 1;");
  EXPECT_EQ(snippet.marks, "  ^~~~~~~~~");
}

TEST(Snippet, CaretAloneWithoutAnEnd) { EXPECT_EQ(makeSnippet("  f(x);", {3, 0}).marks, "  ^"); }

TEST(Snippet, NoMarksWithoutAColumn) { EXPECT_EQ(makeSnippet("  f(x);", {0, 0}).marks, ""); }

TEST(Snippet, TabsGoToTheNextStop) {
  Snippet snippet = makeSnippet("\ta\tb", {4, 5});
  EXPECT_EQ(snippet.text, "        a       b");
  EXPECT_EQ(snippet.marks, "                ^");
}

TEST(Snippet, ColumnsAreBytesAndMarksAreCells) {
  // "ß" has two bytes and one cell, "値" three bytes and two cells.
  EXPECT_EQ(makeSnippet("/*\xC3\x9F*/ x = 1;", {8, 9}).marks, "      ^");
  Snippet wide = makeSnippet("s = \"\xE5\x80\xA4\" + x;", {5, 10});
  EXPECT_EQ(wide.marks, "    ^~~~");
  // A combining accent takes no cell of its own.
  EXPECT_EQ(makeSnippet("e\xCC\x81 x", {5, 6}).marks, "  ^");
}

TEST(Snippet, BrokenUtf8AndControlBytesAreReplaced) {
  Snippet snippet = makeSnippet("a\xFF\x1B[2Jb\xE5\x80", {7, 8});
  EXPECT_EQ(snippet.text, "a\xEF\xBF\xBD\xEF\xBF\xBD[2Jb\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(snippet.marks, "      ^");
}

TEST(Snippet, SecondRangeOnTheSameLine) {
  EXPECT_EQ(makeSnippet("a[i] = a[i + 1];", {1, 5}, {{8, 16}}).marks, "^~~~   ~~~~~~~~");
}

TEST(Snippet, TheCaretWinsWhereRangesMeet) {
  EXPECT_EQ(makeSnippet("a[i] = a[i + 1];", {1, 16}, {{8, 16}}).marks, "^~~~~~~~~~~~~~~");
}

TEST(Snippet, CaretJustPastTheEnd) {
  EXPECT_EQ(makeSnippet("abc", {4, 0}).marks, "   ^");
  EXPECT_EQ(makeSnippet("abc", {400, 500}).marks, "   ^");
  EXPECT_EQ(makeSnippet("", {1, 0}).marks, "^");
}

TEST(Snippet, AnEndBeforeTheStartIsIgnored) { EXPECT_EQ(makeSnippet("abcdef", {4, 2}).marks, "   ^"); }

TEST(Snippet, LongLinesBecomeAWindowAroundTheCaret) {
  std::string line = std::string(500, 'a') + "HERE" + std::string(500, 'b');
  Snippet snippet = makeSnippet(line, {501, 505});
  EXPECT_LE(snippet.text.size(), 170u);
  std::size_t at = snippet.text.find("HERE");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(snippet.marks, std::string(at, ' ') + "^~~~");
  EXPECT_TRUE(snippet.text.starts_with("...") && snippet.text.ends_with("..."));
}

TEST(SourceReader, LinesCountFromOneAndKnowBothLineEnds) {
  MemorySourceReader reader;
  reader.add("a.cu", "first\r\nsecond\nlast");
  EXPECT_EQ(reader.line("a.cu", 1), "first");
  EXPECT_EQ(reader.line("a.cu", 3), "last");
  EXPECT_EQ(reader.line("a.cu", 0), std::nullopt);
  EXPECT_EQ(reader.line("a.cu", 4), std::nullopt);
  EXPECT_EQ(reader.line("b.cu", 1), std::nullopt);
  DiskSourceReader disk;
  EXPECT_EQ(disk.line("/no/such/file.cu", 1), std::nullopt);
  EXPECT_EQ(disk.line(KCHECK_SOURCE_DIR "/tests", 1), std::nullopt); // a folder
}

} // namespace
} // namespace kcheck
