// The difference to the left neighbour, for 1000 elements. The barrier is there, but not for everyone.
// launch: differences<<<4, 256>>>(int[1000]=uninitialized, int[1000]=iota, 1000)
__global__ void differences(int* out, const int* in, int n) {
  __shared__ int tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    tile[threadIdx.x] = in[i];
    __syncthreads(); // expect: barrier-divergence
    out[i] = threadIdx.x > 0 ? tile[threadIdx.x] - tile[threadIdx.x - 1] : 0;
  }
}
