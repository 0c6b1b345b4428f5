// Doubles 100000 numbers in place, with 30 blocks of 128 threads: each thread takes several elements.
// launch: twice<<<30, 128>>>(float[100000], 100000)
__global__ void twice(float* x, int n) {
  int stride = blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) x[i] *= 2; // expect: race-global
}
