// z = x + y, one thread per element: 8 blocks of 128 threads for 1000 elements.
#include <cstdio>
#include <vector>

constexpr int kN = 1000;

__global__ void add(double* z, const double* x, const double* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = x[i] + y[i]; // expect: out-of-bounds
}

int main() {
  const size_t bytes = kN * sizeof(double);
  std::vector<double> x(kN, 1.0), y(kN, 2.0), z(kN);
  double *dx, *dy, *dz;
  cudaMalloc(&dx, bytes);
  cudaMalloc(&dy, bytes);
  cudaMalloc(&dz, bytes);
  cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), bytes, cudaMemcpyHostToDevice);
  add<<<8, 128>>>(dz, dx, dy);
  cudaMemcpy(z.data(), dz, bytes, cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(dz);

  int wrong = 0;
  for (double value : z) wrong += value != 3.0;
  printf("%d of %d elements wrong\n", wrong, kN);
}
