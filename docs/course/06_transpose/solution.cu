// Turns 256 x 256 numbers by a quarter: row y of the input becomes column n - 1 - y of the output.
// launch: turn<<<dim3(8, 8), dim3(32, 32)>>>(float[65536]=uninitialized, float[65536]=iota, 256)
// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void turn(float* out, const float* in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  int column = n - 1 - (blockIdx.y * 32 + 31 - threadIdx.x);
  int row = blockIdx.x * 32 + threadIdx.y;
  out[row * n + column] = tile[31 - threadIdx.x][threadIdx.y];
}
