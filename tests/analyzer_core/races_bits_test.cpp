// Race questions on masks, shifts, remainders and wrap-around. Each right one with its wrong twin.
#include "race_questions.h"

namespace kcheck::analyzer {
namespace {

// ---- masks, shifts, modulo

TEST(Bits, RingOfExactlyTheBlock) {
  for (std::uint32_t threads : {32u, 64u}) {
    KernelBuilder k(launch({1, 1, 1}, {threads, 1, 1}));
    k.write(k.shared("ring"), (k.tid() + 5) & 31);
    if (threads == 32)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Bits, RotationByParameter) {
  for (std::uint32_t threads : {64u, 65u}) {
    KernelBuilder k(launch({1, 1, 1}, {threads, 1, 1}));
    Ix shift = k.param("shift", 0, 1000);
    k.write(k.shared("ring"), (k.tid() + shift) % 64);
    if (threads == 64)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Bits, RotationModuloTheBlock) {
  KernelBuilder k({{0, 1, 1}, {1, 1, 1}});
  Ix shift = k.param("shift", 0, 1000);
  k.write(k.shared("ring"), (k.tid() + shift) % k.dim());
  expectProved(k);
}

TEST(Bits, Butterfly) {
  KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
  Ix mask = k.param("mask", 1, 128);
  k.write(k.shared("s"), k.tid() ^ mask);
  expectProved(k);
}

TEST(Bits, ButterflyReadAndWrite) {
  KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
  Ix mask = k.param("mask", 1, 128);
  unsigned s = k.shared("s");
  k.read(s, k.tid() ^ mask);
  k.write(s, k.tid());
  expectRace(k);
}

TEST(Bits, ExchangeByTheLowerOfEachPair) {
  // Bitonic step: the thread whose partner is above it exchanges both.
  for (bool guarded : {true, false}) {
    KernelBuilder k(launch({1, 1, 1}, {64, 1, 1}));
    unsigned s = k.shared("s");
    Ix partner = k.tid() ^ 8;
    if (guarded) k.where(partner > k.tid());
    k.write(s, k.tid());
    k.write(s, partner);
    if (guarded)
      expectProved(k, By::Anything);
    else
      expectRace(k);
  }
}

TEST(Bits, RowAndColumnBySlices) {
  KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
  Ix row = k.tid() >> 4, column = k.tid() & 15;
  k.write(k.shared("tile"), row * 17 + column);
  expectProved(k);
}

TEST(Bits, RowAndColumnBySlicesThatLoseABit) {
  KernelBuilder k(launch({1, 1, 1}, {256, 1, 1}));
  Ix row = k.tid() >> 5, column = k.tid() & 15;
  k.write(k.shared("tile"), row * 17 + column);
  expectRace(k);
}

TEST(Bits, QuotientAndRemainder) {
  for (int pitch : {12, 8}) {
    KernelBuilder k(launch({1, 1, 1}, {200, 1, 1}));
    k.write(k.shared("tile"), (k.tid() / 10) * pitch + k.tid() % 10);
    if (pitch == 12)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Bits, DisjointOr) {
  KernelBuilder k(launch({1, 1, 1}, {32, 8, 1}));
  k.write(k.shared("s"), (k.tid(1) << 5) | k.tid(0));
  expectProved(k);
  KernelBuilder overlapping(launch({1, 1, 1}, {32, 8, 1}));
  overlapping.write(overlapping.shared("s"), (overlapping.tid(1) << 4) | overlapping.tid(0));
  expectRace(overlapping);
}

TEST(Bits, ModuloOfTheGlobalIndex) {
  KernelBuilder k;
  k.write(k.global("bins"), k.gid() % 256);
  expectRace(k);
}

TEST(Bits, EvenAndOdd) {
  KernelBuilder k(anyLaunch1D());
  unsigned z = k.global("z");
  k.write(z, k.gid() * 2);
  k.read(z, k.gid() * 2 + 1);
  expectProved(k);
  KernelBuilder wrong(anyLaunch1D());
  unsigned w = wrong.global("z");
  wrong.write(w, wrong.gid() * 2);
  wrong.read(w, wrong.gid() * 2 + 2);
  expectRace(wrong);
}

// ---- wrap-around

TEST(Wrap, ByteIndex) {
  for (std::uint32_t threads : {256u, 512u}) {
    KernelBuilder k(launch({1, 1, 1}, {threads, 1, 1}));
    k.write(k.global("z"), k.tid().trunc(8).zext(32));
    if (threads == 256)
      expectProved(k);
    else
      expectRace(k);
  }
}

TEST(Wrap, ByteIndexOnAnyLaunch) {
  KernelBuilder k(anyLaunch1D());
  k.write(k.global("z"), k.gid().trunc(8).zext(32));
  expectRace(k);
}

TEST(Wrap, SignedByteIndex) {
  KernelBuilder k(launch({1, 1, 1}, {512, 1, 1}));
  k.write(k.global("z"), k.tid().trunc(8).sext(32));
  expectRace(k);
  KernelBuilder right(launch({1, 1, 1}, {256, 1, 1}));
  right.write(right.global("z"), right.tid().trunc(8).sext(32));
  expectProved(right, By::Anything);
}

TEST(Wrap, HalfWordIndex) {
  KernelBuilder k(launch({1024, 1, 1}, {128, 1, 1}));
  k.write(k.global("z"), k.gid().trunc(16).zext(32));
  expectRace(k); // 131072 threads
  KernelBuilder right(launch({512, 1, 1}, {128, 1, 1}));
  right.write(right.global("z"), right.gid().trunc(16).zext(32));
  expectProved(right);
}

TEST(Wrap, ByteArithmetic) {
  KernelBuilder k(launch({1, 1, 1}, {128, 1, 1}));
  Ix small = k.tid().trunc(8);
  k.write(k.global("z"), small.umul(small.lift(4)).zext(32));
  expectRace(k); // 4 * 64 wraps to 0
}

TEST(Wrap, UnsignedProductOfTheThread) {
  KernelBuilder k(launch({1, 1, 1}, {128, 1, 1}));
  k.write(k.global("z"), k.tid().umul(0x10000000).zext(64));
  expectRace(k); // sixteen different values
}

TEST(Wrap, UnsignedProductByAnOddNumberPermutes) {
  KernelBuilder k(launch({1, 1, 1}, {1024, 1, 1}));
  k.write(k.global("z"), k.tid().umul(-1640531527).zext(64));
  expectProved(k);
}

TEST(Wrap, UnsignedProductWithAParameterIsNamed) {
  KernelBuilder k;
  Ix stride = k.param("stride");
  k.where(stride > 0);
  k.write(k.global("z"), k.gid().umul(stride));
  KernelAnswers a = k.answers();
  PropertyResult p = property(a, Property::RaceFree);
  EXPECT_EQ(p.answer, Answer::Proved) << summary(a);
  ASSERT_FALSE(p.assumptions.empty());
  EXPECT_NE(p.assumptions[0].find("line 10"), std::string::npos) << p.assumptions[0];
}

TEST(Wrap, SignedProductNamesTheLine) {
  KernelBuilder k;
  Ix stride = k.param("stride");
  k.where(stride > 0);
  k.write(k.global("z"), k.gid() * stride);
  expectProved(k);
  PropertyResult p = property(k.answers(), Property::RaceFree);
  ASSERT_EQ(p.assumptions.size(), 1u);
  EXPECT_EQ(p.assumptions[0], "index arithmetic in line 10 does not wrap");
}

TEST(Wrap, SignedProductThatFitsNeedsNoAssumption) {
  KernelBuilder k(launch({4, 1, 1}, {128, 1, 1}));
  k.write(k.global("z"), k.gid() * k.number(12));
  expectProved(k);
  expectNoAssumptions(k);
}

TEST(Wrap, DifferenceBelowZero) {
  // (unsigned)(tid - 1): thread 0 wraps to 2^32 - 1, which nobody else has.
  KernelBuilder k(launch({1, 1, 1}, {128, 1, 1}));
  k.write(k.global("z"), k.tid().uadd(k.number(-1)).zext(64));
  expectProved(k);
}

} // namespace
} // namespace kcheck::analyzer
