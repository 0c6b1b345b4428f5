// As pipeline_multi_stage, but what was copied is read without consumer_wait().
// expect-report: may still write it [race-shared]
// expect-status: 1
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/pipeline>
#include <vector>
__device__ void compute(int* out, const int* in, int n) {
  auto block = cooperative_groups::this_thread_block();
  for (int i = block.thread_rank(); i < n; i += block.size()) out[i] = in[n - 1 - i] * 2;
}
template <size_t stages_count>
__global__ void with_staging(int* global_out, int const* global_in, size_t size, size_t batch_sz) {
  auto grid = cooperative_groups::this_grid();
  auto block = cooperative_groups::this_thread_block();
  extern __shared__ int shared[];
  size_t shared_offset[stages_count];
  for (int s = 0; s < stages_count; ++s) shared_offset[s] = s * block.size();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope::thread_scope_block, stages_count> shared_state;
  auto pipeline = cuda::make_pipeline(block, &shared_state);
  auto block_batch = [&](size_t batch) -> int {
    return block.group_index().x * block.size() + grid.size() * batch;
  };
  for (size_t compute_batch = 0, fetch_batch = 0; compute_batch < batch_sz; ++compute_batch) {
    for (; fetch_batch < batch_sz && fetch_batch < (compute_batch + stages_count); ++fetch_batch) {
      pipeline.producer_acquire();
      size_t shared_idx = fetch_batch % stages_count;
      size_t batch_idx = fetch_batch;
      size_t block_batch_idx = block_batch(batch_idx);
      cuda::memcpy_async(block, shared + shared_offset[shared_idx], global_in + block_batch_idx,
                         sizeof(int) * block.size(), pipeline);
      pipeline.producer_commit();
    }
    int shared_idx = compute_batch % stages_count;
    compute(global_out + block_batch(compute_batch), shared + shared_offset[shared_idx], block.size());
    pipeline.consumer_release();
  }
}
int main() {
  const int grid = 4, block = 128, batches = 5, n = grid * block * batches;
  std::vector<int> h(n), r(n);
  for (int i = 0; i < n; ++i) h[i] = i;
  int *in, *out;
  if (cudaMalloc(&in, n * 4) || cudaMalloc(&out, n * 4)) return 1;
  cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice);
  with_staging<3><<<grid, block, 3 * block * 4>>>(out, in, n, batches);
  if (cudaGetLastError() || cudaMemcpy(r.data(), out, n * 4, cudaMemcpyDeviceToHost)) return 2;
  int bad = 0;
  for (int b = 0; b < n / block; ++b)
    for (int i = 0; i < block; ++i) bad += r[b * block + i] != h[b * block + block - 1 - i] * 2;
  printf("PASS %d\n", bad);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
