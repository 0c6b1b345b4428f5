// Device and constant variables: initial values, addresses of one another, copies from and to the host, static
// members and tables.
#include "check.h"

__device__ int counter = 41;
__device__ int* address = &counter;
__device__ int numbers[4] = {1, 2, 3, 4};
__device__ int* inside = &numbers[2];
__constant__ float weights[3];
__constant__ double pi = 3.25;
struct Node {
  const char* name;
  const Node* next;
  int value;
};
__device__ const Node last = {"last", nullptr, 7};
__device__ const Node first = {"first", &last, 5};
static __device__ int zeroed[100];
__device__ int counter2 = 1; // the same name as a host variable's would be

__global__ void use(double* out) {
  constexpr int primes[] = {2, 3, 5, 7, 11};
  int t = threadIdx.x;
  if (t == 0) {
    ++*address;
    *inside += 10;
    zeroed[99] = 3;
  }
  __syncthreads();
  out[t] = counter + numbers[2] * 100 + weights[t % 3] * 1000 + pi + first.next->value + first.next->name[1] +
           primes[t % 5] + zeroed[t];
}

int main() {
  Buffer<double> out(32);
  float host[3] = {1, 2, 3};
  cudaMemcpyToSymbol(weights, host, sizeof host);
  use<<<1, 32>>>(out.data);
  cudaDeviceSynchronize();
  const int primes[] = {2, 3, 5, 7, 11};
  for (int i = 0; i < 32; ++i)
    same("use", i, out[i], 42 + 1300 + 1000 * (i % 3 + 1) + 3.25 + 7 + 'a' + primes[i % 5]);
  int back = 0;
  cudaMemcpyFromSymbol(&back, counter, sizeof back);
  same("counter", 0, back, 42);
  void* where = nullptr;
  cudaGetSymbolAddress(&where, zeroed);
  cudaMemcpy(&back, static_cast<int*>(where) + 99, sizeof back, cudaMemcpyDeviceToHost);
  same("zeroed", 99, back, 3);
  return finish();
}
