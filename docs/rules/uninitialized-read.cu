// 256 threads clear 256 of 512 bins.
// launch: histogram<<<1, 256>>>(int[256]=uninitialized, int[256]=iota)
__global__ void histogram(int* out, const int* x) {
  __shared__ int bins[512];
  bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[2 * x[threadIdx.x]], 1); // expect-run: uninitialized-read
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x];
}
