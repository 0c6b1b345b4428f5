// No main: kcheck runs the first kernel itself. It prints, and waits for a flag that no host sets once the race has
// happened.
#include <cstdio>

__global__ void firstOfFour(unsigned* count, int* first, volatile int* flag) {
  if (atomicInc(count, 3) == 0) first[0] = threadIdx.x;
  printf("printed by the kernel\n");
  while (flag[1] == 0) {}
}

__global__ void plain(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
