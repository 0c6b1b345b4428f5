// A surface access beside its array, in the mode that traps: told at its line.
// expect-report: surface_outside.cu:10:3: error: a surface write of 4 bytes is not within the array, which has 256 bytes in a row
// expect-report: out-of-bounds
// expect-report: thread (31,0,0) of block (0,0,0)
// expect-status: 1
#include "check.h"

__global__ void fill(cudaSurfaceObject_t surface, int first) {
  int i = first + threadIdx.x;
  surf1Dwrite(i, surface, 4 * i);
}

int main() {
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  OK(cudaMallocArray(&array, &format, 64, 0, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  OK(cudaCreateSurfaceObject(&surface, &resource));
  fill<<<1, 32>>>(surface, 32);
  OK(cudaDeviceSynchronize());
  fill<<<1, 32>>>(surface, 33);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  std::printf("PASS\n");
}
