// A barrier of the whole grid in a launch that is not cooperative.
// expect-status: 1
// expect-report: waits for the whole grid in a launch that is not cooperative, which ends the kernel
// expect-report: launch it by cudaLaunchCooperativeKernel()
#include "check.h"

#include <cooperative_groups.h>

__global__ void meet(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  cooperative_groups::this_grid().sync();
}

int main() {
  int* data;
  OK(cudaMalloc(&data, 256 * sizeof(int)));
  meet<<<4, 64>>>(data);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  std::printf("PASS\n");
}
