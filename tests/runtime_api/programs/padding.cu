// Copies of structures whose padding nobody writes are no finding.
// expect-report: no findings
#include "check.h"

struct Mixed {
  char tag;
  int count;
  double value;
  int last; // four bytes of padding behind
};

__global__ void make(Mixed* out) {
  int i = threadIdx.x;
  out[i].tag = char(i);
  out[i].count = 2 * i;
  out[i].value = 0.5 * i;
  out[i].last = -i;
}

int main() {
  Mixed *device, host[100];
  OK(cudaMalloc(&device, sizeof host));
  make<<<1, 100>>>(device);
  OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 100; ++i) CHECK(host[i].tag == char(i) && host[i].value == 0.5 * i && host[i].last == -i);
  OK(cudaFree(device));
  std::printf("PASS\n");
}
