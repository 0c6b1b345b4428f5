// printf of kernels: types, order with the host's own output, and the flush when the host synchronises.
// expect-report: before launch
// expect-report: 7 -3 2.50 x text 123456789012 ff
#include "check.h"

__global__ void say(const char* /*unused*/) {
  if (threadIdx.x == 0) printf("%d %d %.2f %c %s %lld %x\n", 7, -3, 2.5f, 'x', "text", 123456789012ll, 255u);
}

int main() {
  std::printf("before launch\n");
  say<<<1, 32>>>(nullptr);
  OK(cudaDeviceSynchronize());
  std::printf("PASS\n");
}
