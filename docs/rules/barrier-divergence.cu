// Each block takes 256 values into shared memory; 1000 values, four blocks.
// launch: neighbours<<<4, 256>>>(int[1000]=uninitialized, int[1000]=iota, 1000)
__global__ void neighbours(int* out, const int* in, int n) {
  __shared__ int s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s[threadIdx.x] = in[i];
  __syncthreads(); // expect: barrier-divergence
  out[i] = threadIdx.x > 0 ? s[threadIdx.x - 1] : 0;
}
