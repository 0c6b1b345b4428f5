// 8 blocks of 128 threads for 1000 elements.
// launch: add<<<8, 128>>>(double[1000]=uninitialized, double[1000], double[1000])
__global__ void add(double* z, const double* x, const double* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = x[i] + y[i]; // expect: out-of-bounds
}
