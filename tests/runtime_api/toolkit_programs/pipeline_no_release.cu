// As pipeline_single_stage, but nobody gives the stage back: the second producer_acquire() waits for ever.
// expect-report: no thread can go on: 512 threads poll here, for a barrier that still misses 128 of its 128 arrivals [hang]
// expect-status: 1
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/pipeline>
#include <vector>
__device__ void compute(int* out, const int* in, int n) {
  auto block = cooperative_groups::this_thread_block();
  for (int i = block.thread_rank(); i < n; i += block.size()) out[i] = in[n - 1 - i] * 2;
}
__global__ void with_single_stage(int* global_out, int const* global_in, size_t size, size_t batch_sz) {
  auto grid = cooperative_groups::this_grid();
  auto block = cooperative_groups::this_thread_block();
  constexpr size_t stages_count = 1;
  extern __shared__ int shared[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope::thread_scope_block, stages_count> shared_state;
  auto pipeline = cuda::make_pipeline(block, &shared_state);
  auto block_batch = [&](size_t batch) -> int {
    return block.group_index().x * block.size() + grid.size() * batch;
  };
  for (size_t batch = 0; batch < batch_sz; ++batch) {
    size_t global_idx = block_batch(batch);
    pipeline.producer_acquire();
    cuda::memcpy_async(block, shared, global_in + global_idx, sizeof(int) * block.size(), pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    compute(global_out + global_idx, shared, block.size());
  }
}
int main() {
  const int grid = 4, block = 128, batches = 5, n = grid * block * batches;
  std::vector<int> h(n), r(n);
  for (int i = 0; i < n; ++i) h[i] = i;
  int *in, *out;
  if (cudaMalloc(&in, n * 4) || cudaMalloc(&out, n * 4)) return 1;
  cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice);
  with_single_stage<<<grid, block, block * 4>>>(out, in, n, batches);
  if (cudaMemcpy(r.data(), out, n * 4, cudaMemcpyDeviceToHost) != cudaSuccess) std::printf("stopped\n");
  int bad = 0;
  for (int b = 0; b < n / block; ++b)
    for (int i = 0; i < block; ++i) bad += r[b * block + i] != h[b * block + block - 1 - i] * 2;
  printf("PASS %d\n", bad);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
