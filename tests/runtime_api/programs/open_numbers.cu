// Shifts by the width and more, and numbers that their type does not hold: PTX says what they give.
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

int main() {
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
