// A value that nobody thought of.
// launch: pick<<<1, 32>>>(int[32]=uninitialized, int[32]=iota)
__global__ void pick(int* out, const int* kind) {
  switch (kind[threadIdx.x] % 3) {
  case 0: out[threadIdx.x] = 10; break;
  case 1: out[threadIdx.x] = 20; break;
  default: __trap(); // expect-run: trap
  }
}
