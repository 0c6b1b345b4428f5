// y = A x with A stored by columns: each block brings x into shared memory, 128 elements at a time. It is
// right for 1024 rows and columns; here there are 1000.
//
// expect-anywhere: barrier-divergence, out-of-bounds, uninitialized-read
// launch: gemv<<<8, 128>>>(double[1000]=uninitialized, double[1000000], double[1000], 1000)
__global__ void gemv(double* y, const double* a, const double* x, int n) {
  __shared__ double window[128];
  int t = threadIdx.x;
  int row = blockIdx.x * 128 + t;
  if (row >= n) return;
  double sum = 0;
  for (int start = 0; start < n; start += 128) {
    window[t] = x[start + t];
    __syncthreads();
    for (int k = 0; k < 128 && start + k < n; ++k) sum += a[(start + k) * n + row] * window[k];
    __syncthreads();
  }
  y[row] = sum;
}
