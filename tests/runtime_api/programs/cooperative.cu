// Cooperative launch with a grid barrier, as large as occupancy allows; one block more is refused.
// expect-report: 720 too many blocks in cooperative launch
// expect-status: 1
#include "check.h"
#include <cooperative_groups.h>

__global__ void rotate(int* data, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  data[i] = i;
  cooperative_groups::this_grid().sync();
  out[i] = data[(i + blockDim.x) % n];
}

int main() {
  int perMultiprocessor = 0, multiprocessors = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, rotate, 512, 0));
  OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  int blocks = perMultiprocessor * multiprocessors, n = blocks * 512;
  int *data, *out, *host = new int[n];
  OK(cudaMalloc(&data, n * sizeof(int)));
  OK(cudaMalloc(&out, n * sizeof(int)));
  void* arguments[] = {&data, &out};
  OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rotate), blocks, 512, arguments, 0, 0));
  OK(cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(host[i] == (i + 512) % n);
  cudaError_t refused = cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rotate), blocks + 1, 512, arguments, 0, 0);
  std::printf("%d %s\n", int(refused), cudaGetErrorString(refused));
  CHECK(refused == cudaErrorCooperativeLaunchTooLarge);
  OK(cudaFree(data));
  OK(cudaFree(out));
  delete[] host;
  std::printf("PASS\n");
}
