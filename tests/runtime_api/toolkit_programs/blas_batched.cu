// Batches of products by cuBLAS, of floats, halves and bfloat16, against the same sums written out. needs: libblas
#include "../programs/check.h"
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>
#define BLAS(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

const int m = 5, n = 4, k = 3, batch = 6;
// a margin between the matrices, which nobody writes and nobody reads
const long long stepA = m * k + 2, stepB = k * n + 3, stepC = m * n + 4;

static float elementA(int i) { return float(i % 7 - 3); }
static float elementB(int i) { return float(i % 5 - 2); }

template <class T> __global__ void fill(T *a, T *b) {
  int i = threadIdx.x, p = blockIdx.x;
  if (i < m * k) a[p * stepA + i] = T(float((p * stepA + i) % 7 - 3));
  if (i < k * n) b[p * stepB + i] = T(float((p * stepB + i) % 5 - 2));
}

template <class T> struct Matrices {
  T *a, *b, *c;
  Matrices() {
    OK(cudaMallocManaged(&a, batch * stepA * sizeof(T)));
    OK(cudaMallocManaged(&b, batch * stepB * sizeof(T)));
    OK(cudaMallocManaged(&c, batch * stepC * sizeof(T)));
    fill<<<batch, 32>>>(a, b);
  }
  ~Matrices() {
    for (T *pointer : {a, b, c}) OK(cudaFree(pointer));
  }
  void check(float factor) const {
    OK(cudaDeviceSynchronize());
    for (int p = 0; p < batch; p++)
      for (int row = 0; row < m; row++)
        for (int column = 0; column < n; column++) {
          float sum = 0;
          for (int i = 0; i < k; i++)
            sum += elementA(p * stepA + i * m + row) * elementB(p * stepB + column * k + i);
          CHECK(float(c[p * stepC + column * m + row]) == factor * sum);
        }
  }
};

template <class T> static void typed(cublasHandle_t handle, cudaDataType type) {
  Matrices<T> x;
  float one = 1, two = 2, zero = 0;
  BLAS(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &two, x.a, type, m, stepA, x.b, type, k,
                                  stepB, &zero, x.c, type, m, stepC, batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  x.check(2);
  void **pointers;
  OK(cudaMallocManaged(&pointers, 3 * batch * sizeof(void *)));
  for (int p = 0; p < batch; p++) {
    pointers[p] = x.a + p * stepA;
    pointers[batch + p] = x.b + p * stepB;
    pointers[2 * batch + p] = x.c + p * stepC;
  }
  BLAS(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, pointers, type, m, pointers + batch, type,
                           k, &one, pointers + 2 * batch, type, m, batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  x.check(3);
  CHECK(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, pointers, type, m - 1, pointers + batch,
                            type, k, &one, pointers + 2 * batch, type, m, batch, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_INVALID_VALUE);
  OK(cudaFree(pointers));
}

static void halves(cublasHandle_t handle) {
  Matrices<__half> x;
  __half one = __float2half(1), zero = __float2half(0);
  BLAS(cublasHgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, x.a, m, stepA, x.b, k, stepB, &zero,
                                 x.c, m, stepC, batch));
  x.check(1);
}

int main() {
  cublasHandle_t handle;
  BLAS(cublasCreate(&handle));
  typed<float>(handle, CUDA_R_32F);
  typed<__half>(handle, CUDA_R_16F);
  typed<__nv_bfloat16>(handle, CUDA_R_16BF);
  halves(handle);
  BLAS(cublasDestroy(handle));
  std::puts("PASS");
}
