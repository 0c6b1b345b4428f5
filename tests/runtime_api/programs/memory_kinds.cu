// Device, managed, pinned, mapped and pitched memory; copies of all kinds; sets; pointer attributes.
#include "check.h"

__global__ void scale(float* data, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}

__global__ void fillPitched(char* base, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height) reinterpret_cast<float*>(base + y * pitch)[x] = float(y * width + x);
}

int main() {
  const int n = 1000;
  float host[n], back[n];
  for (int i = 0; i < n; ++i) host[i] = float(i);

  float *device, *second, *managed, *pinned, *mapped, *mappedDevice;
  OK(cudaMalloc(&device, sizeof host));
  OK(cudaMalloc(&second, sizeof host));
  OK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
  scale<<<(n + 127) / 128, 128>>>(device, n, 2);
  OK(cudaMemcpy(second, device, sizeof host, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(back, second, sizeof back, cudaMemcpyDefault));
  for (int i = 0; i < n; ++i) CHECK(back[i] == 2 * host[i]);

  OK(cudaMallocManaged(&managed, sizeof host));
  for (int i = 0; i < n; ++i) managed[i] = host[i];
  OK(cudaMemPrefetchAsync(managed, sizeof host, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, 0));
  scale<<<(n + 127) / 128, 128>>>(managed, n, 3);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(managed[i] == 3 * host[i]);

  OK(cudaMallocHost(&pinned, sizeof host));
  for (int i = 0; i < n; ++i) pinned[i] = -host[i];
  OK(cudaMemcpyAsync(device, pinned, sizeof host, cudaMemcpyHostToDevice));
  OK(cudaStreamSynchronize(0));
  OK(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
  CHECK(back[7] == -7);

  OK(cudaHostAlloc(&mapped, sizeof host, cudaHostAllocMapped));
  OK(cudaHostGetDevicePointer(&mappedDevice, mapped, 0));
  for (int i = 0; i < n; ++i) mapped[i] = host[i];
  scale<<<(n + 127) / 128, 128>>>(mappedDevice, n, 4);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(mapped[i] == 4 * host[i]);

  char* pitched;
  size_t pitch;
  const int width = 37, height = 5;
  OK(cudaMallocPitch(&pitched, &pitch, width * sizeof(float), height));
  CHECK(pitch >= width * sizeof(float) && pitch % 32 == 0);
  fillPitched<<<dim3(1, height), 64>>>(pitched, pitch, width, height);
  float plane[height][width];
  OK(cudaMemcpy2D(plane, width * sizeof(float), pitched, pitch, width * sizeof(float), height, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) CHECK(plane[y][x] == y * width + x);

  OK(cudaMemset(device, 0, sizeof host));
  OK(cudaMemset(device + 1, 0xff, sizeof(float)));
  unsigned words[3];
  OK(cudaMemcpy(words, device, sizeof words, cudaMemcpyDeviceToHost));
  CHECK(words[0] == 0 && words[1] == ~0u && words[2] == 0);

  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, device + 5));
  CHECK(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device + 5);
  OK(cudaPointerGetAttributes(&attributes, managed));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  OK(cudaPointerGetAttributes(&attributes, pinned));
  CHECK(attributes.type == cudaMemoryTypeHost);
  OK(cudaPointerGetAttributes(&attributes, host));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);

  size_t before, after, total;
  OK(cudaMemGetInfo(&before, &total));
  void *some, *more;
  OK(cudaMalloc(&some, 1 << 20));
  OK(cudaMemGetInfo(&after, &total));
  CHECK(before - after == 1 << 20 && total >= before);
  CHECK(cudaMalloc(&more, size_t(1) << 50) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(more == nullptr);

  OK(cudaFree(some));
  OK(cudaFree(device));
  OK(cudaFree(second));
  OK(cudaFree(managed));
  OK(cudaFree(pitched));
  OK(cudaFree(nullptr));
  OK(cudaFreeHost(pinned));
  OK(cudaFreeHost(mapped));
  std::printf("PASS\n");
}
