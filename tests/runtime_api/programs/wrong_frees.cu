// Memory that is freed by another function than its own: the report names the right one.
// expect-report: cudaFree cannot free this pointer: the memory is of cudaMallocHost or cudaHostAlloc, which cudaFreeHost frees
// expect-report: cudaFreeHost cannot free this pointer: the memory is the device's, which cudaFree frees
// expect-report: cudaFreeHost cannot free this pointer: the memory is managed, which cudaFree frees
// expect-report: cudaFree cannot free this pointer: the pointer was not allocated by CUDA; what comes from malloc or new goes to free or delete
// expect-report: cudaFree cannot free this pointer: the memory is a variable's, which nothing frees
// expect-report: cudaFreeHost cannot free this pointer: the memory was registered, which cudaHostUnregister ends
// expect-status: 1
#include "check.h"
#include <cstdlib>

__device__ int variable;

int main() {
  int *device, *pinned, *managed, *host = static_cast<int*>(std::malloc(64));
  OK(cudaMalloc(&device, 64));
  OK(cudaMallocHost(&pinned, 64));
  OK(cudaMallocManaged(&managed, 64));
  CHECK(cudaFree(pinned) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(device) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(managed) == cudaErrorInvalidValue);
  CHECK(cudaFree(host) == cudaErrorInvalidValue);
  void* address;
  OK(cudaGetSymbolAddress(&address, variable));
  CHECK(cudaFree(address) == cudaErrorInvalidValue);
  OK(cudaHostRegister(host, 64, 0));
  CHECK(cudaFreeHost(host) == cudaErrorInvalidValue);
  OK(cudaHostUnregister(host));
  std::free(host);
  OK(cudaFree(device));
  OK(cudaFreeHost(pinned));
  OK(cudaFree(managed));
  std::printf("PASS\n");
}
