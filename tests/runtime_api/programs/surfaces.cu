// Surfaces: written and read back by kernels, boundary modes, and the array seen through a texture afterwards.
// expect-report: no findings
#include "check.h"

__global__ void paint(cudaSurfaceObject_t surface, int width, int height) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < width && y < height) surf2Dwrite(float(100 * y + x), surface, x * int(sizeof(float)), y);
}
__global__ void flip(cudaSurfaceObject_t from, float* out, int width, int height) {
  int x = threadIdx.x, y = threadIdx.y;
  float value;
  surf2Dread(&value, from, x * int(sizeof(float)), height - 1 - y);
  out[y * width + x] = value;
}
__global__ void outside(cudaSurfaceObject_t from, float* out) {
  out[0] = surf2Dread<float>(from, -4, 0, cudaBoundaryModeZero);
  out[1] = surf2Dread<float>(from, 4000, 1, cudaBoundaryModeClamp);
}

int main() {
  const int width = 8, height = 4;
  float host[width * height], *out;
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  OK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  OK(cudaMalloc(&out, sizeof host));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  OK(cudaCreateSurfaceObject(&surface, &resource));
  paint<<<1, dim3(width, height)>>>(surface, width, height);
  flip<<<1, dim3(width, height)>>>(surface, out, width, height);
  OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; ++i) CHECK(host[i] == 100 * (height - 1 - i / width) + i % width);
  outside<<<1, 1>>>(surface, out);
  OK(cudaMemcpy(host, out, 2 * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(host[0] == 0 && host[1] == 107);
  OK(cudaDestroySurfaceObject(surface));
  OK(cudaFreeArray(array));
  OK(cudaFree(out));
  std::printf("PASS\n");
}
