// Streams, events, callbacks and host functions.
#include "check.h"

__global__ void add(int* data, int by) { data[threadIdx.x] += by; }

void onHost(void* data) { *static_cast<int*>(data) += 1; }
void onCallback(cudaStream_t, cudaError_t status, void* data) {
  if (status == cudaSuccess) *static_cast<int*>(data) += 10;
}

int main() {
  int *data, host[32] = {}, calls = 0;
  OK(cudaMalloc(&data, sizeof host));
  cudaStream_t first, second;
  OK(cudaStreamCreate(&first));
  OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  cudaEvent_t start, stop, done;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop));
  OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));

  OK(cudaEventRecord(start, first));
  OK(cudaMemsetAsync(data, 0, sizeof host, first));
  add<<<1, 32, 0, first>>>(data, 3);
  OK(cudaEventRecord(done, first));
  OK(cudaStreamWaitEvent(second, done, 0));
  add<<<1, 32, 0, second>>>(data, 4);
  OK(cudaLaunchHostFunc(second, onHost, &calls));
  OK(cudaStreamAddCallback(second, onCallback, &calls, 0));
  OK(cudaEventRecord(stop, second));
  OK(cudaEventSynchronize(stop));
  OK(cudaStreamQuery(second));
  CHECK(calls == 11);
  float milliseconds = -1;
  OK(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds > 0 && milliseconds < 60000);
  CHECK(cudaEventElapsedTime(&milliseconds, start, done) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  OK(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, second));
  OK(cudaStreamSynchronize(second));
  for (int value : host) CHECK(value == 7);

  int least, greatest, priority;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t urgent;
  OK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  OK(cudaStreamGetPriority(urgent, &priority));
  CHECK(priority == greatest && greatest < least);
  OK(cudaStreamDestroy(urgent));
  OK(cudaStreamDestroy(first));
  OK(cudaStreamDestroy(second));
  CHECK(cudaStreamDestroy(first) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(stop));
  OK(cudaEventDestroy(done));
  OK(cudaFree(data));
  std::printf("PASS\n");
}
