// Shifts by the width and more, numbers that their type does not hold, and divisions by zero: what a GPU gives.
#include "check.h"
#include <cmath>

struct Results {
  unsigned mask, left, right;
  int sign, fromFloat, fromDouble;
  unsigned fromNegative, bytes;
  unsigned long long wide, wideMask;
  long long wideNan;
  unsigned char narrow, negative;
  short cut;
  float quotient, none;
  double noneWide;
};

__global__ void compute(Results* out, int width, float large, float none) {
  Results r = {};
  r.mask = (1u << width) - 1;
  r.left = 3u << (width + 1);
  r.right = 0x80000000u >> width;
  r.sign = -8 >> (width + 8);
  r.wideMask = (1ull << 2 * width) - 1;
  r.fromFloat = (int)large;
  r.fromDouble = (int)-double(large);
  r.fromNegative = (unsigned)-large;
  r.wide = (unsigned long long)large;
  r.wideNan = (long long)none;
  r.narrow = (unsigned char)large;
  r.negative = (unsigned char)-large;
  r.cut = (short)large;
  r.bytes = __byte_perm(0x44332281u, 0x88776655u, 0xf840u + (width & 0));
  r.quotient = __fdividef(large, 1.5e38f);
  r.none = nanf("");
  r.noneWide = nan("");
  *out = r;
}

struct Parts {
  int quotient, remainder;
  unsigned unsignedQuotient, unsignedRemainder;
  long long wide, wideRemainder;
  unsigned long long unsignedWide, unsignedWideRemainder;
  int byte, perhaps, inPtx, inPtxRemainder;
};

__global__ void divide(Parts* out, int x, int by, long long wide, long long wideBy) {
  Parts r = {};
  r.quotient = x / by;
  r.remainder = x % by;
  r.unsignedQuotient = unsigned(x) / unsigned(by);
  r.unsignedRemainder = unsigned(x) % unsigned(by);
  r.wide = wide / wideBy;
  r.wideRemainder = wide % wideBy;
  r.unsignedWide = (unsigned long long)wide / (unsigned long long)wideBy;
  r.unsignedWideRemainder = (unsigned long long)wide % (unsigned long long)wideBy;
  r.byte = (signed char)x / (signed char)by;
  r.perhaps = by ? x / by : 77; // must not count as a promise that `by` is none
  asm("div.s32 %0, %1, %2;" : "=r"(r.inPtx) : "r"(x), "r"(by));
  asm("rem.s32 %0, %1, %2;" : "=r"(r.inPtxRemainder) : "r"(x), "r"(by));
  *out = r;
}

Parts parts(int x, int by, long long wide, long long wideBy) {
  Parts *device, r = {};
  OK(cudaMalloc(&device, sizeof r));
  divide<<<1, 1>>>(device, x, by, wide, wideBy);
  OK(cudaMemcpy(&r, device, sizeof r, cudaMemcpyDeviceToHost));
  OK(cudaFree(device));
  return r;
}

void divisions() {
  constexpr int kLeast = -0x7fffffff - 1;
  constexpr long long kLeastWide = -0x7fffffffffffffff - 1;
  Parts r = parts(-5, 0, 1ll << 40, 0);
  CHECK(r.quotient == -1 && r.remainder == -5);
  CHECK(r.unsignedQuotient == ~0u && r.unsignedRemainder == unsigned(-5));
  CHECK(r.wide == -1 && r.wideRemainder == 1ll << 40);
  CHECK(r.unsignedWide == ~0ull && r.unsignedWideRemainder == 1ull << 40);
  CHECK(r.byte == -1 && r.perhaps == 77);
  CHECK(r.inPtx == -1 && r.inPtxRemainder == -1);
  r = parts(0, 0, 0xdeadbeef, 0);
  CHECK(r.quotient == -1 && r.remainder == 0);
  CHECK(r.wide == 0xffffffff && r.wideRemainder == 0xdeadbeef); // numbers of 32 bits are divided as such
  CHECK(r.unsignedWide == 0xffffffff && r.unsignedWideRemainder == 0xdeadbeef);
  r = parts(kLeast, -1, kLeastWide, -1);
  CHECK(r.quotient == kLeast && r.remainder == 0);
  CHECK(r.unsignedQuotient == 0 && r.unsignedRemainder == 0x80000000u);
  CHECK(r.wide == kLeastWide && r.wideRemainder == 0);
  CHECK(r.byte == 0 && r.inPtx == kLeast && r.inPtxRemainder == 0);
  r = parts(-7, -1, -9, -2);
  CHECK(r.quotient == 7 && r.remainder == 0 && r.wide == 4 && r.wideRemainder == -1);
  CHECK(r.byte == 7 && r.perhaps == 7 && r.inPtx == 7 && r.inPtxRemainder == 0);
}

int main() {
  divisions();
  Results *device, r;
  OK(cudaMalloc(&device, sizeof r));
  compute<<<1, 1>>>(device, 32, INFINITY, NAN);
  OK(cudaMemcpy(&r, device, sizeof r, cudaMemcpyDeviceToHost));
  CHECK(r.mask == 0xffffffffu);
  CHECK(r.left == 0);
  CHECK(r.right == 0);
  CHECK(r.sign == -1);
  CHECK(r.wideMask == ~0ull);
  CHECK(r.fromFloat == 0x7fffffff);
  CHECK(r.fromDouble == -0x7fffffff - 1);
  CHECK(r.fromNegative == 0);
  CHECK(r.wide == ~0ull);
  CHECK(r.wideNan == -0x7fffffffffffffff - 1);
  CHECK(r.narrow == 255);
  CHECK(r.negative == 0);
  CHECK(r.cut == -1);
  CHECK(r.bytes == 0x88815581u);
  CHECK(std::isnan(r.quotient));
  CHECK(std::isnan(r.none) && std::isnan(r.noneWide));
  compute<<<1, 1>>>(device, 31, 70000.f, NAN);
  OK(cudaMemcpy(&r, device, sizeof r, cudaMemcpyDeviceToHost));
  CHECK(r.mask == 0x7fffffffu);
  CHECK(r.right == 1);
  CHECK(r.narrow == (70000 & 255));
  CHECK(r.cut == short(70000));
  CHECK(r.quotient == 0);
  OK(cudaFree(device));
  std::printf("PASS\n");
}
