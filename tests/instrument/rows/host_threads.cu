// While the program has another thread of its own, which fills a part of the array that no kernel writes, one
// thread runs the blocks: nothing of what the other has done may be undone. Afterwards several do.
#include <atomic>
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>

constexpr int kThreads = 128, kBlocks = 64, kAll = kThreads * kBlocks;

__global__ void fill(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main() {
  int* data = nullptr;
  cudaMallocHost(&data, 2 * kAll * sizeof(int));
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (int i = kAll; i < 2 * kAll; ++i) data[i] = 2;
    while (!done) std::this_thread::yield();
  });
  fill<<<kBlocks, kThreads>>>(data);
  cudaDeviceSynchronize();
  done = true;
  other.join();
  fill<<<kBlocks, kThreads>>>(data);
  cudaDeviceSynchronize();
  long sum = 0;
  for (int i = 0; i < 2 * kAll; ++i) sum += data[i];
  std::printf("sum %ld\n", sum);
  cudaFreeHost(data);
}
