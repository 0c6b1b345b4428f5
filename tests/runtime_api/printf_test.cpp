// Formatting of kernels' printf from its packed argument buffer.
#include "instrument/runtime/api/printf_format.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using kcheck::runtime::api::formatPacked;

namespace {

/// Packs values as clang packs the arguments of a kernel's printf.
class Packed {
public:
  template <class Value> Packed& add(Value value) {
    std::size_t at = (bytes_.size() + alignof(Value) - 1) / alignof(Value) * alignof(Value);
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
    return *this;
  }
  std::string format(const char* text, int expected) const {
    std::vector<std::uint64_t> aligned(bytes_.size() / 8 + 1);
    std::memcpy(aligned.data(), bytes_.data(), bytes_.size());
    std::string out;
    EXPECT_EQ(formatPacked(out, text, aligned.data()), expected);
    return out;
  }

private:
  std::vector<std::byte> bytes_;
};

TEST(Printf, MixesTypesAtTheirAlignment) {
  Packed args;
  args.add(7).add(2.5).add(1).add("text").add(-5ll).add(3u);
  EXPECT_EQ(args.format("%d %f %d [%s] %lld %u\n", 6), "7 2.500000 1 [text] -5 3\n");
}

TEST(Printf, TextWithoutConversionsAndPercent) {
  EXPECT_EQ(Packed().format("100%% sure", 0), "100% sure");
  EXPECT_EQ(Packed().format("", 0), "");
}

TEST(Printf, WidthPrecisionFlagsAndStars) {
  EXPECT_EQ(Packed().add(5).add(3.14159).add(42).format("%-4d|%08.3f|%+d", 3), "5   |0003.142|+42");
  EXPECT_EQ(Packed().add(8).add(2).add(1.23456).format("%*.*f", 3), "    1.23");
  EXPECT_EQ(Packed().add(-6).add(3).format("%*d|", 2), "3     |");
}

TEST(Printf, LongAndShortLengths) {
  EXPECT_EQ(Packed().add(1l << 40).add(std::size_t(9)).add(~0ull).format("%ld %zu %llx", 3),
            "1099511627776 9 ffffffffffffffff");
  EXPECT_EQ(Packed().add(int(0x12345)).format("%hd", 1), "9029");
  EXPECT_EQ(Packed().add(int('A')).format("%c", 1), "A");
}

TEST(Printf, NullStringAndPointer) {
  EXPECT_EQ(Packed().add(static_cast<const char*>(nullptr)).format("%s", 1), "(null)");
  EXPECT_EQ(Packed().add(reinterpret_cast<const void*>(0x1000)).format("%p", 1), "0x1000");
}

TEST(Printf, LongTextIsNotCut) {
  std::string text(5000, 'x');
  EXPECT_EQ(Packed().add(text.c_str()).format("%s!", 1), text + "!");
  EXPECT_EQ(Packed().add(3).format("%200d", 1), std::string(199, ' ') + "3");
}

TEST(Printf, BadFormatsAreHarmless) {
  std::string out;
  EXPECT_EQ(formatPacked(out, nullptr, nullptr), -1);
  EXPECT_EQ(Packed().format("end %", 0), "end %");
  EXPECT_EQ(Packed().format("%q", 0), "%q");
}

} // namespace
