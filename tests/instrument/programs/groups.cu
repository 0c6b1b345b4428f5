// Cooperative groups: blocks, tiles within and beyond a warp, coalesced groups, reductions and scans, the grid.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void tiles(int* out) {
  auto block = cg::this_thread_block();
  auto eight = cg::tiled_partition<8>(block);
  int t = block.thread_rank();
  out[t] = eight.shfl_down(t, 1) + 1000 * eight.thread_rank();
  out[128 + t] = cg::reduce(eight, t, cg::plus<int>());
  out[256 + t] = cg::exclusive_scan(eight, 1);
  auto warp = cg::tiled_partition<32>(block);
  out[384 + t] = warp.ballot(t % 2) == 0xaaaaaaaau;
  if (t % 4 == 1) {
    auto active = cg::coalesced_threads();
    out[512 + t] = active.size() * 100 + active.thread_rank();
  }
  auto wide = cg::tiled_partition<64>(block);
  wide.sync();
  out[640 + t] = wide.meta_group_rank() * 1000 + wide.thread_rank();
  block.sync();
}

__global__ void grid(int* data, int rounds) {
  auto all = cg::this_grid();
  int n = int(all.size()), t = int(all.thread_rank());
  for (int i = 0; i < rounds; ++i) {
    int value = data[(t + 1) % n];
    all.sync();
    data[t] = value;
    all.sync();
  }
}

int main() {
  Buffer<int> out(768);
  tiles<<<1, 128>>>(out.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 128; ++i) {
    int lane = i % 8, base = i - lane;
    same("down", i, out[i], (lane < 7 ? i + 1 : i) + 1000 * lane);
    same("reduce", i, out[128 + i], 8 * base + 28);
    same("scan", i, out[256 + i], lane);
    same("ballot", i, out[384 + i], 1);
    if (i % 4 == 1) same("coalesced", i, out[512 + i], 800 + i % 32 / 4);
    same("wide", i, out[640 + i], i / 64 * 1000 + i % 64);
  }
  Buffer<int> data(256);
  for (int i = 0; i < 256; ++i) data[i] = i;
  int rounds = 3;
  void* arguments[] = {&data.data, &rounds};
  cudaError_t error = cudaLaunchCooperativeKernel((void*)grid, dim3(4), dim3(64), arguments, 0, nullptr);
  same("launch", 0, int(error), 0);
  cudaDeviceSynchronize();
  for (int i = 0; i < 256; ++i) same("grid", i, data[i], (i + 3) % 256);
  return finish();
}
