// As pipeline_specialised, but the consumers give a stage back before they read it.
// expect-report: [race-shared]
// expect-status: 1
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/pipeline>
#include <vector>
template <size_t stages_count>
__global__ void specialized(int* global_out, int const* global_in, size_t size, size_t batch_sz) {
  auto grid = cooperative_groups::this_grid();
  auto block = cooperative_groups::this_thread_block();
  extern __shared__ int s[];
  size_t shared_offset[stages_count];
  for (int i = 0; i < stages_count; ++i) shared_offset[i] = i * block.size();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope::thread_scope_block, stages_count> shared_state;
  auto thread_role =
      block.thread_rank() < block.size() / 2 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  cuda::pipeline pipeline = cuda::make_pipeline(block, &shared_state, thread_role);
  auto block_batch = [&](size_t batch) -> int {
    return block.group_index().x * block.size() + grid.size() * batch;
  };
  if (thread_role == cuda::pipeline_role::producer) {
    // producers copy in parts
    int half = block.size() / 2;
    for (size_t batch = 0; batch < batch_sz; ++batch) {
      pipeline.producer_acquire();
      size_t shared_idx = batch % stages_count;
      for (int i = block.thread_rank(); i < block.size(); i += half)
        cuda::memcpy_async(s + shared_offset[shared_idx] + i, global_in + block_batch(batch) + i, sizeof(int),
                           pipeline);
      pipeline.producer_commit();
    }
  } else {
    int half = block.size() / 2;
    for (size_t batch = 0; batch < batch_sz; ++batch) {
      pipeline.consumer_wait();
      pipeline.consumer_release();
      size_t shared_idx = batch % stages_count;
      for (int i = block.thread_rank() - half; i < block.size(); i += half)
        global_out[block_batch(batch) + i] = s[shared_offset[shared_idx] + block.size() - 1 - i] * 2;
    }
  }
}
int main() {
  const int grid = 4, block = 128, batches = 5, n = grid * block * batches;
  std::vector<int> h(n), r(n);
  for (int i = 0; i < n; ++i) h[i] = i;
  int *in, *out;
  if (cudaMalloc(&in, n * 4) || cudaMalloc(&out, n * 4)) return 1;
  cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice);
  specialized<2><<<grid, block, 2 * block * 4>>>(out, in, n, batches);
  if (cudaGetLastError() || cudaMemcpy(r.data(), out, n * 4, cudaMemcpyDeviceToHost)) return 2;
  int bad = 0;
  for (int b = 0; b < n / block; ++b)
    for (int i = 0; i < block; ++i) bad += r[b * block + i] != h[b * block + block - 1 - i] * 2;
  printf("PASS %d\n", bad);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
