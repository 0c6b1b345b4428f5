// What batches of products by cuBLAS are handed. needs: libblas
// expect-status: 1
// expect-report: error: cublasGemmStridedBatchedEx writes 256 bytes and leaves the allocation [out-of-bounds]
// expect-report: error: cublasGemmBatchedEx got a pointer of the wrong side: it wants device memory here [wrong-space]
// expect-report: error: the host reads `c` while a call of cublasGemmStridedBatchedEx that it has not waited for may still write it [race-host]
#include "../programs/check.h"
#include <cublas_v2.h>
#include <cuda_runtime.h>

int main() {
  const int n = 8, batch = 4, all = batch * n * n;
  float *a, *c, *small, one = 1, zero = 0;
  OK(cudaMalloc(&a, all * sizeof(float)));
  OK(cudaMemset(a, 0, all * sizeof(float)));
  OK(cudaMallocManaged(&c, all * sizeof(float)));
  OK(cudaMalloc(&small, (all - n) * sizeof(float)));
  cublasHandle_t handle;
  cublasCreate(&handle);
  // room for a row less than the last matrix needs
  CHECK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, CUDA_R_32F, n, n * n, a,
                                   CUDA_R_32F, n, n * n, &zero, small, CUDA_R_32F, n, n * n, batch, CUBLAS_COMPUTE_32F,
                                   CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS);
  // arrays of pointers lie in device memory
  float *pointers[batch] = {a, a, a, a};
  CHECK(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, (void **)pointers, CUDA_R_32F, n,
                            (void **)pointers, CUDA_R_32F, n, &zero, (void **)pointers, CUDA_R_32F, n, batch,
                            CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS);
  OK(cudaDeviceSynchronize());
  CHECK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, CUDA_R_32F, n, n * n, a,
                                   CUDA_R_32F, n, n * n, &zero, c, CUDA_R_32F, n, n * n, batch, CUBLAS_COMPUTE_32F,
                                   CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  float sum = 0; // nothing has waited for the product
  for (int i = 0; i < all; i++) sum += c[i];
  CHECK(sum == 0);
  cublasDestroy(handle);
  OK(cudaFree(a));
  OK(cudaFree(c));
  OK(cudaFree(small));
  std::puts("PASS");
}
