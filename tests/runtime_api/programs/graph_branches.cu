// Two kernels of a graph, neither of which depends on the other, write the same array: a race between branches, not
// between streams, for the program has one stream.
// expect-status: 1
// expect-report: kernel `set` (launched at line 23) writes `data[threadIdx.x]` that kernel `set` (launched at line 23) in another branch of the graph still writes
// expect-report: let one node depend on the other
#include "check.h"

__global__ void set(int* data, int value) { data[threadIdx.x] = value; }

int main() {
  int *data, first = 1, second = 2;
  OK(cudaMalloc(&data, 32 * sizeof(int)));
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  for (int* value : {&first, &second}) {
    void* arguments[] = {&data, value};
    cudaKernelNodeParams parameters = {};
    parameters.func = reinterpret_cast<void*>(set);
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(32);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node;
    OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  }
  cudaGraphExec_t runnable;
  OK(cudaGraphInstantiate(&runnable, graph, nullptr, nullptr, 0));
  OK(cudaGraphLaunch(runnable, nullptr));
  OK(cudaDeviceSynchronize());
  OK(cudaGraphExecDestroy(runnable));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(data));
  std::printf("PASS\n");
}
