// 2048 threads for 4096 elements, all of which go back to the host.
#include <vector>

__global__ void fill(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main() {
  std::vector<int> out(4096);
  int* a;
  cudaMalloc(&a, 4096 * sizeof(int));
  fill<<<16, 128>>>(a);                                                  // expect-static: launch-coverage
  cudaMemcpy(out.data(), a, 4096 * sizeof(int), cudaMemcpyDeviceToHost); // expect-run: unwritten-output
  cudaFree(a);
}
