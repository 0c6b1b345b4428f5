// A block reverses 256 elements through shared memory.
// launch: reverse<<<1, 256>>>(int[256]=uninitialized, int[256]=iota)
__global__ void reverse(int* out, const int* in) {
  __shared__ int tile[256];
  tile[threadIdx.x] = in[threadIdx.x]; // expect: race-shared
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
