// Breadth-first search on a random graph of 20000 nodes, level by level. A thread takes a node of the
// frontier; who marks a neighbour first, by atomicCAS, appends it to the next frontier, in a place drawn by
// atomicAdd.
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

constexpr int kNodes = 20000;
constexpr int kDegree = 8;
constexpr int kBlock = 128;

__global__ void expand(const int* starts, const int* targets, const int* frontier, int size, int* levels,
                       int level, int* next, int* nextSize) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  int node = frontier[i];
  for (int k = starts[node]; k < starts[node + 1]; ++k) { // expect-run: uncoalesced
    int target = targets[k]; // expect-run: uncoalesced
    if (atomicCAS(&levels[target], -1, level) == -1) next[atomicAdd(nextSize, 1)] = target;
  }
}

int main() {
  std::vector<int> starts(1, 0), targets, levels(kNodes);
  unsigned state = 1;
  for (int node = 0; node < kNodes; ++node) {
    state = state * 1664525u + 1013904223u;
    int degree = 1 + (state >> 16) % (2 * kDegree);
    for (int k = 0; k < degree; ++k) {
      state = state * 1664525u + 1013904223u;
      targets.push_back((state >> 8) % kNodes);
    }
    starts.push_back(int(targets.size()));
  }

  std::vector<int> expected(kNodes, -1), queue(1, 0);
  expected[0] = 0;
  for (size_t at = 0; at < queue.size(); ++at)
    for (int k = starts[queue[at]]; k < starts[queue[at] + 1]; ++k)
      if (expected[targets[k]] < 0) {
        expected[targets[k]] = expected[queue[at]] + 1;
        queue.push_back(targets[k]);
      }

  int *dstarts, *dtargets, *dlevels, *dfrontier, *dnext, *dsize;
  cudaMalloc(&dstarts, (kNodes + 1) * sizeof(int));
  cudaMalloc(&dtargets, targets.size() * sizeof(int));
  cudaMalloc(&dlevels, kNodes * sizeof(int));
  cudaMalloc(&dfrontier, kNodes * sizeof(int));
  cudaMalloc(&dnext, kNodes * sizeof(int));
  cudaMalloc(&dsize, sizeof(int));
  cudaMemcpy(dstarts, starts.data(), (kNodes + 1) * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dtargets, targets.data(), targets.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(dlevels, 0xff, kNodes * sizeof(int));
  cudaMemset(dlevels, 0, sizeof(int));   // node 0 has level 0
  cudaMemset(dfrontier, 0, sizeof(int)); // and is the first frontier
  int size = 1;
  for (int level = 1; size > 0; ++level) {
    cudaMemset(dsize, 0, sizeof(int));
    expand<<<(size + kBlock - 1) / kBlock, kBlock>>>(dstarts, dtargets, dfrontier, size, dlevels, level,
                                                     dnext, dsize);
    cudaMemcpy(&size, dsize, sizeof(int), cudaMemcpyDeviceToHost);
    std::swap(dfrontier, dnext);
  }
  cudaMemcpy(levels.data(), dlevels, kNodes * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dstarts);
  cudaFree(dtargets);
  cudaFree(dlevels);
  cudaFree(dfrontier);
  cudaFree(dnext);
  cudaFree(dsize);

  int wrong = 0;
  for (int node = 0; node < kNodes; ++node) wrong += levels[node] != expected[node];
  printf("bfs: %d of %d nodes wrong\n", wrong, kNodes);
  return wrong == 0 ? 0 : 1;
}
