// Banks of shared memory have four bytes; programs for older devices ask for other ones.
#include "check.h"

extern "C" cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
extern "C" cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
extern "C" cudaError_t cudaFuncSetSharedMemConfig(const void* func, cudaSharedMemConfig config);

__global__ void nothing() {}

int main() {
  cudaSharedMemConfig config;
  OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
  OK(cudaDeviceGetSharedMemConfig(&config));
  CHECK(config == cudaSharedMemBankSizeFourByte);
  OK(cudaFuncSetSharedMemConfig((const void*)nothing, cudaSharedMemBankSizeDefault));
  CHECK(cudaDeviceSetSharedMemConfig(cudaSharedMemConfig(3)) == cudaErrorInvalidValue);
  std::printf("PASS\n");
}
