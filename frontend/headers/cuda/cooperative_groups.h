// Cooperative groups: thread blocks, grids, tiles, coalesced threads, with their collectives. Own code on warp
// intrinsics; tiles of more than a warp are left to a CUDA toolkit's headers.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"

namespace cooperative_groups {

#define __KC_FN __device__ __attribute__((always_inline)) inline

namespace details {
// The passes know the two halves of a grid barrier by their names and put their own in their place.
__device__ __attribute__((noinline)) inline unsigned int sync_grids_arrive(volatile unsigned int* arrived) {
  return atomicAdd((unsigned int*)arrived, 1u);
}
__device__ __attribute__((noinline)) inline void sync_grids_wait(unsigned int, volatile unsigned int*) {}

__KC_FN unsigned int lane() {
  unsigned int id;
  asm("mov.u32 %0, %%laneid;" : "=r"(id));
  return id;
}
__KC_FN unsigned int threadRank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__KC_FN unsigned int blockSize() { return blockDim.x * blockDim.y * blockDim.z; }
} // namespace details

class thread_block {
public:
  static constexpr bool kIsBlock = true;
  __KC_FN void sync() const { __syncthreads(); }
  static __KC_FN unsigned int size() { return details::blockSize(); }
  static __KC_FN unsigned int num_threads() { return details::blockSize(); }
  static __KC_FN unsigned int thread_rank() { return details::threadRank(); }
  static __KC_FN dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __KC_FN dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static __KC_FN dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static __KC_FN dim3 dim_threads() { return group_dim(); }
};
__KC_FN thread_block this_thread_block() { return thread_block(); }

class grid_group {
public:
  __KC_FN bool is_valid() const { return true; }
  __KC_FN void sync() const {
    __syncthreads();
    details::sync_grids_wait(0, nullptr);
    __syncthreads();
  }
  static __KC_FN unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static __KC_FN unsigned long long block_rank() {
    return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
  }
  static __KC_FN unsigned long long num_threads() { return num_blocks() * details::blockSize(); }
  static __KC_FN unsigned long long size() { return num_threads(); }
  static __KC_FN unsigned long long thread_rank() { return block_rank() * details::blockSize() + details::threadRank(); }
  static __KC_FN dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static __KC_FN dim3 dim_blocks() { return group_dim(); }
};
__KC_FN grid_group this_grid() { return grid_group(); }

/// Lanes of one warp that work together; `mask` names them.
class coalesced_group {
protected:
  unsigned int mask;
  __KC_FN unsigned int laneOf(unsigned int rank) const { // the lane with that many members below it
    unsigned int rest = mask;
    for (unsigned int i = 0; i < rank; ++i) rest &= rest - 1;
    return __ffs(rest) - 1;
  }

public:
  __KC_FN explicit coalesced_group(unsigned int m) : mask(m) {}
  __KC_FN void sync() const { __syncwarp(mask); }
  __KC_FN unsigned int size() const { return __popc(mask); }
  __KC_FN unsigned int num_threads() const { return size(); }
  __KC_FN unsigned int thread_rank() const { return __popc(mask & ((1u << details::lane()) - 1)); }
  __KC_FN unsigned long long meta_group_rank() const { return 0; }
  __KC_FN unsigned long long meta_group_size() const { return 1; }
  template <typename T> __KC_FN T shfl(T v, int rank) const { return __shfl_sync(mask, v, laneOf(rank)); }
  template <typename T> __KC_FN T shfl_down(T v, unsigned int delta) const {
    const unsigned int target = thread_rank() + delta;
    return __shfl_sync(mask, v, target < size() ? laneOf(target) : details::lane());
  }
  template <typename T> __KC_FN T shfl_up(T v, int delta) const {
    const int target = int(thread_rank()) - delta;
    return __shfl_sync(mask, v, target >= 0 ? laneOf(target) : details::lane());
  }
  __KC_FN int any(int p) const { return __any_sync(mask, p); }
  __KC_FN int all(int p) const { return __all_sync(mask, p); }
  __KC_FN unsigned int ballot(int p) const {
    const unsigned int lanes = __ballot_sync(mask, p);
    unsigned int result = 0;
    for (unsigned int rest = mask, rank = 0; rest; rest &= rest - 1, ++rank)
      if (lanes & rest & -rest) result |= 1u << rank;
    return result;
  }
};
__KC_FN coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int Size, typename Parent = void> class thread_block_tile {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0,
                "kcheck's own cooperative_groups.h has tiles of up to a warp; use a CUDA toolkit's");
  static __KC_FN unsigned int mask() {
    return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1) << (details::lane() & ~(Size - 1));
  }

public:
  thread_block_tile() = default;
  template <typename Other> __KC_FN thread_block_tile(const thread_block_tile<Size, Other>&) {}
  __KC_FN void sync() const { __syncwarp(mask()); }
  static __KC_FN constexpr unsigned int size() { return Size; }
  static __KC_FN constexpr unsigned int num_threads() { return Size; }
  static __KC_FN unsigned int thread_rank() { return details::threadRank() & (Size - 1); }
  static __KC_FN unsigned long long meta_group_rank() { return details::threadRank() / Size; }
  static __KC_FN unsigned long long meta_group_size() { return (details::blockSize() + Size - 1) / Size; }
  template <typename T> __KC_FN T shfl(T v, int rank) const { return __shfl_sync(mask(), v, rank, Size); }
  template <typename T> __KC_FN T shfl_down(T v, unsigned int d) const { return __shfl_down_sync(mask(), v, d, Size); }
  template <typename T> __KC_FN T shfl_up(T v, unsigned int d) const { return __shfl_up_sync(mask(), v, d, Size); }
  template <typename T> __KC_FN T shfl_xor(T v, unsigned int m) const { return __shfl_xor_sync(mask(), v, m, Size); }
  __KC_FN int any(int p) const { return __any_sync(mask(), p); }
  __KC_FN int all(int p) const { return __all_sync(mask(), p); }
  __KC_FN unsigned int ballot(int p) const {
    return (__ballot_sync(mask(), p) & mask()) >> (details::lane() & ~(Size - 1) & 31);
  }
  template <typename T> __KC_FN unsigned int match_any(T v) const {
    return (__match_any_sync(mask(), v) & mask()) >> (details::lane() & ~(Size - 1) & 31);
  }
};

template <unsigned int Size, typename Parent> __KC_FN thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<Size, Parent>();
}
__KC_FN coalesced_group tiled_partition(const thread_block&, unsigned int size) {
  const unsigned int first = details::lane() / size * size;
  return coalesced_group(size == 32 ? 0xffffffffu : ((1u << size) - 1) << first);
}
template <unsigned int Size, typename Parent>
__KC_FN coalesced_group binary_partition(const thread_block_tile<Size, Parent>& tile, bool p) {
  const unsigned int yes = tile.ballot(p), first = details::lane() & ~(Size - 1) & 31;
  const unsigned int all = Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1;
  return coalesced_group((p ? yes : all & ~yes) << first);
}

template <typename Group> __KC_FN void sync(const Group& g) { g.sync(); }
template <typename Group> __KC_FN auto thread_rank(const Group& g) { return g.thread_rank(); }
template <typename Group> __KC_FN auto group_size(const Group& g) { return g.size(); }

// cooperative_groups/reduce.h and scan.h.
template <typename T = void> struct plus {
  template <typename V> __KC_FN V operator()(V a, V b) const { return a + b; }
};
template <typename T = void> struct less {
  template <typename V> __KC_FN V operator()(V a, V b) const { return b < a ? b : a; }
};
template <typename T = void> struct greater {
  template <typename V> __KC_FN V operator()(V a, V b) const { return a < b ? b : a; }
};
template <typename T = void> struct bit_and {
  template <typename V> __KC_FN V operator()(V a, V b) const { return a & b; }
};
template <typename T = void> struct bit_or {
  template <typename V> __KC_FN V operator()(V a, V b) const { return a | b; }
};
template <typename T = void> struct bit_xor {
  template <typename V> __KC_FN V operator()(V a, V b) const { return a ^ b; }
};
template <unsigned int Size, typename Parent, typename T, typename Op>
__KC_FN T reduce(const thread_block_tile<Size, Parent>& tile, T v, Op op) {
  for (unsigned int m = Size / 2; m > 0; m /= 2) v = op(v, tile.shfl_xor(v, m));
  return v;
}
template <typename T, typename Op> __KC_FN T reduce(const coalesced_group& group, T v, Op op) {
  T result = group.shfl(v, 0);
  for (unsigned int i = 1; i < group.size(); ++i) result = op(result, group.shfl(v, i));
  return result;
}
template <typename Group, typename T, typename Op> __KC_FN T inclusive_scan(const Group& group, T v, Op op) {
  for (unsigned int d = 1; d < group.size(); d *= 2) {
    const T below = group.shfl_up(v, d);
    if (group.thread_rank() >= d) v = op(below, v);
  }
  return v;
}
template <typename Group, typename T> __KC_FN T inclusive_scan(const Group& group, T v) {
  return inclusive_scan(group, v, plus<T>());
}
template <typename Group, typename T> __KC_FN T exclusive_scan(const Group& group, T v) {
  const T before = group.shfl_up(inclusive_scan(group, v, plus<T>()), 1);
  return group.thread_rank() == 0 ? T(0) : before;
}

#undef __KC_FN
} // namespace cooperative_groups
