// The virtual device: properties, attributes, occupancy, function attributes, limits.
#include "check.h"
#include <cstring>

__global__ void kernel(int* out) {
  __shared__ int words[256];
  words[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = words[255 - threadIdx.x];
}

int main() {
  int count = 0, device = -1, value = 0;
  OK(cudaGetDeviceCount(&count));
  CHECK(count == 1);
  OK(cudaSetDevice(0));
  OK(cudaGetDevice(&device));
  CHECK(device == 0);
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  CHECK(properties.major == 8 && properties.minor == 0 && properties.warpSize == 32);
  CHECK(std::strstr(properties.name, "sm_80"));
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  CHECK(value == properties.multiProcessorCount);
  CHECK(cudaGetDeviceProperties(&properties, 1) == cudaErrorInvalidDevice);
  cudaGetLastError();

  int version = 0;
  OK(cudaRuntimeGetVersion(&version));
  CHECK(version == 13000);
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, kernel));
  CHECK(attributes.sharedSizeBytes == 1024 && attributes.maxThreadsPerBlock == 1024);
  int blocks = 0, minGrid = 0, blockSize = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
  CHECK(blocks == 8);
  OK(cudaOccupancyMaxPotentialBlockSize(&minGrid, &blockSize, kernel, 0, 0));
  CHECK(blockSize == 1024 && minGrid == 2 * properties.multiProcessorCount);
  size_t limit = 0;
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 25));
  OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  CHECK(limit == 1 << 25);
  int peer = 1;
  OK(cudaDeviceCanAccessPeer(&peer, 0, 0));
  CHECK(peer == 0);

  int *out, host[256];
  OK(cudaMalloc(&out, sizeof host));
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 256;
  OK(cudaLaunchKernelEx(&config, kernel, out));
  OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[0] == 255 && host[255] == 0);
  OK(cudaFree(out));
  OK(cudaDeviceReset());
  std::printf("PASS\n");
}
