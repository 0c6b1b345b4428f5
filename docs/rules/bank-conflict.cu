// A tile is written by rows and read by columns.
// launch: transpose<<<1, dim3(32, 32)>>>(float[1024]=uninitialized, float[1024])
__global__ void transpose(float* out, const float* in) {
  __shared__ float tile[32][32];
  int i = threadIdx.y * 32 + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[threadIdx.x][threadIdx.y]; // expect: bank-conflict
}
