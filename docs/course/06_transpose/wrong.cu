// Transposes 256 x 256 numbers, one per thread.
// launch: transpose<<<dim3(8, 8), dim3(32, 32)>>>(float[65536]=uninitialized, float[65536]=iota, 256)
__global__ void transpose(float* out, const float* in, int n) {
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  out[x * n + y] = in[y * n + x]; // expect-efficiency: load 100 store 12.5 // expect: uncoalesced
}
