// Two blocks of 64 threads for 100 elements.
// launch: half<<<2, 64>>>(int[100]=uninitialized, int[100], 100)
#include <cassert>

__global__ void half(int* out, const int* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n); // expect-run: assert-failed
  out[i] = in[i] / 2;
}
