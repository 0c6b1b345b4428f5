// The same through a tile in shared memory: rows are read and rows are written, and the tile turns them.
// launch: transpose<<<dim3(8, 8), dim3(32, 32)>>>(float[65536]=uninitialized, float[65536]=iota, 256)
__global__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x]; // expect-efficiency: 100
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  float value = tile[threadIdx.x][threadIdx.y]; // expect-bank-ways: 32 // expect: bank-conflict
  out[y * n + x] = value;                       // expect-efficiency: 100
}
