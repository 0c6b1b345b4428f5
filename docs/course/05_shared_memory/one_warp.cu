// Blocks of one warp, and no barrier, "because the 32 threads of a warp run in step".
// launch: reverse<<<8, 32>>>(int[256]=uninitialized, int[256]=iota)
__global__ void reverse(int* out, const int* in) {
  __shared__ int tile[32];
  int first = blockIdx.x * 32;
  tile[threadIdx.x] = in[first + threadIdx.x]; // expect: race-warp
  out[first + threadIdx.x] = tile[31 - threadIdx.x];
}
