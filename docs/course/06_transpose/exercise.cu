// Turns 256 x 256 numbers by a quarter: row y of the input becomes column n - 1 - y of the output.
// expect-anywhere: uncoalesced
// launch: turn<<<dim3(8, 8), dim3(32, 32)>>>(float[65536]=uninitialized, float[65536]=iota, 256)
__global__ void turn(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[x * n + n - 1 - y] = tile[threadIdx.y][threadIdx.x];
}
