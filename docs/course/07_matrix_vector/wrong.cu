// y = A x in double precision, A stored by rows, one thread per row.
// launch: gemv<<<4, 128>>>(double[512]=uninitialized, double[131072], double[256], 512, 256)
__global__ void gemv(double* y, const double* a, const double* x, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * x[k]; // expect: uncoalesced
  y[row] = sum;
}
