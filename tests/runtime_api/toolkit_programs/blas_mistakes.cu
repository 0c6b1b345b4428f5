// What cuBLAS is handed is checked as what kernels access. needs: libblas
// expect-status: 1
// expect-report: error: cublasSgemm reads 448 bytes and leaves the allocation [out-of-bounds]
// expect-report: 448 bytes at byte 0 of `a`, which has 256 bytes: the last 192 bytes past its end
// expect-report: error: read of `c`, which nobody has written [uninitialized-read]
// expect-report: error: cublasSgemm got a pointer of the wrong side: it wants device memory here [wrong-space]
// expect-report: error: cublasSgemm reads `x[threadIdx.x]` that kernel `fill` (launched at line 33) in another stream still writes [race-host]
#include "../programs/check.h"
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void fill(float *x) { x[threadIdx.x] = 1; }

int main() {
  float *a, *b, *c, *d, host[64] = {}, one = 1, zero = 0;
  OK(cudaMalloc(&a, 64 * sizeof(float)));
  OK(cudaMalloc(&b, 64 * sizeof(float)));
  OK(cudaMalloc(&c, 64 * sizeof(float)));
  OK(cudaMalloc(&d, 64 * sizeof(float)));
  fill<<<1, 64>>>(a);
  fill<<<1, 64>>>(b);
  cublasHandle_t handle;
  cublasCreate(&handle);
  // eight columns, each 15 floats behind the other: more than a has
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 7, 8, 8, &one, a, 15, b, 8, &zero, d, 8);
  // beta is not zero, and nobody has written c
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, b, 8, &one, c, 8);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, host, 8, b, 8, &zero, c, 8);
  cudaStream_t own, other;
  OK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  OK(cudaDeviceSynchronize());
  fill<<<1, 64, 0, other>>>(a);
  cublasSetStream(handle, own);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, a, 8, b, 8, &zero, d, 8);
  OK(cudaDeviceSynchronize());
  cublasDestroy(handle);
  for (float *pointer : {a, b, c, d}) cudaFree(pointer);
  cudaStreamDestroy(own);
  cudaStreamDestroy(other);
  std::puts("PASS");
}
