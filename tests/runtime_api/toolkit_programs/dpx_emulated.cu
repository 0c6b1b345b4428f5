// The same without the instructions, by functions of the toolkit.
#include "../programs/check.h"

struct Results {
  unsigned largest, least, sum, chosen, pairs, pairsUnsigned, pairsSum, pairsChosen;
  int rectified, rectifiedSum, pairsRectified;
  bool isFirst, high, low;
};

__global__ void compute(Results* out, unsigned a, unsigned b, unsigned c) {
  Results r = {};
  r.largest = __vimax3_u32(a, b, c);
  r.least = __vimin3_u32(a, b, c);
  r.sum = __viaddmax_u32(a, b, c);
  r.chosen = __vibmax_u32(a, b, &r.isFirst);
  r.rectified = __vimin3_s32_relu(int(a), int(b), int(c));
  r.rectifiedSum = __viaddmin_s32_relu(int(a), int(b), int(c));
  r.pairs = __vimax3_s16x2(a, b, c);
  r.pairsUnsigned = __vimax3_u16x2(a, b, c);
  r.pairsSum = __viaddmin_s16x2(a, b, c);
  r.pairsRectified = int(__vimax3_s16x2_relu(a, a, a));
  r.pairsChosen = __vibmin_s16x2(a, b, &r.high, &r.low);
  *out = r;
}

int main() {
  Results *device, r;
  OK(cudaMalloc(&device, sizeof r));
  compute<<<1, 1>>>(device, 0x8000fffeu, 0x00030001u, 0x00027fffu);
  OK(cudaMemcpy(&r, device, sizeof r, cudaMemcpyDeviceToHost));
  CHECK(r.largest == 0x8000fffeu);
  CHECK(r.least == 0x00027fffu);
  CHECK(r.sum == 0x8003ffffu);
  CHECK(r.chosen == 0x8000fffeu && r.isFirst);
  CHECK(r.rectified == 0 && r.rectifiedSum == 0);
  CHECK(r.pairs == 0x00037fffu);
  CHECK(r.pairsUnsigned == 0x8000fffeu);
  CHECK(r.pairsSum == 0x8003ffffu); // lanes: -0x8000 + 3 against 2, -2 + 1 against 0x7fff
  CHECK(r.pairsRectified == 0);
  CHECK(r.pairsChosen == 0x8000fffeu && r.high && r.low);
  OK(cudaFree(device));
  std::printf("PASS\n");
}
