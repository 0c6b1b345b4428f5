// Graphs: captured from two streams, made by hand, launched repeatedly, changed in place.
#include "check.h"

__global__ void add(int* data, int by) { data[threadIdx.x] += by; }
__global__ void sum(const int* a, const int* b, int* c) { c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }

int first(const int* device) {
  int value;
  OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

void captured(int* a, int* b, int* c) {
  cudaStream_t main, side;
  cudaEvent_t fork, join;
  OK(cudaStreamCreate(&main));
  OK(cudaStreamCreate(&side));
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  OK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, main));
  OK(cudaStreamWaitEvent(side, fork, 0));
  add<<<1, 32, 0, main>>>(a, 1);
  add<<<1, 32, 0, side>>>(b, 10);
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(side, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  OK(cudaEventRecord(join, side));
  OK(cudaStreamWaitEvent(main, join, 0));
  sum<<<1, 32, 0, main>>>(a, b, c);
  OK(cudaStreamEndCapture(main, &graph));
  CHECK(first(a) == 0); // nothing has run
  size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 3);
  OK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(executable, main));
  OK(cudaStreamSynchronize(main));
  CHECK(first(a) == 3 && first(b) == 30 && first(c) == 33);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));

  OK(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, main));
  OK(cudaStreamWaitEvent(side, fork, 0));
  add<<<1, 32, 0, side>>>(b, 10);
  CHECK(cudaStreamEndCapture(main, &graph) == cudaErrorStreamCaptureUnjoined);
  cudaGetLastError();
  OK(cudaStreamDestroy(main));
  OK(cudaStreamDestroy(side));
  OK(cudaEventDestroy(fork));
  OK(cudaEventDestroy(join));
}

void made(int* a) {
  cudaGraph_t graph;
  cudaGraphNode_t clear, work;
  cudaGraphExec_t executable;
  OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams set = {};
  set.dst = a;
  set.elementSize = 4;
  set.value = 100;
  set.width = 32;
  set.height = 1;
  OK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set));
  int by = 5;
  void* arguments[] = {&a, &by};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(add);
  launch.gridDim = 1;
  launch.blockDim = 32;
  launch.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&work, graph, &clear, 1, &launch));
  by = 7; // the node has its own copy
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, 0));
  OK(cudaDeviceSynchronize());
  CHECK(first(a) == 105);
  OK(cudaGraphExecKernelNodeSetParams(executable, work, &launch));
  OK(cudaGraphLaunch(executable, 0));
  OK(cudaDeviceSynchronize());
  CHECK(first(a) == 107);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
}

int main() {
  int *a, *b, *c;
  OK(cudaMalloc(&a, 128));
  OK(cudaMalloc(&b, 128));
  OK(cudaMalloc(&c, 128));
  OK(cudaMemset(a, 0, 128));
  OK(cudaMemset(b, 0, 128));
  captured(a, b, c);
  made(a);
  OK(cudaFree(a));
  OK(cudaFree(b));
  OK(cudaFree(c));
  std::printf("PASS\n");
}
