// cuBLAS's interface, as far as kcheck runs it on real numbers.
#pragma once
#pragma GCC system_header

#include "cuda_fp16.h"
#include "cuda_runtime.h"

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_HERMITAN = 2 } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2 } cublasMath_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum cudaDataType_t {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_8I = 3,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_R_32I = 10,
  CUDA_R_16BF = 14
} cudaDataType;

typedef struct cublasContext* cublasHandle_t;

// The names in programs are those without `_v2`.
#define __KC_V2_OF(S, name, ...) cublasStatus_t cublas##S##name(__VA_ARGS__) __asm__("cublas" #S #name "_v2")

extern "C" {
cublasStatus_t cublasCreate(cublasHandle_t* handle) __asm__("cublasCreate_v2");
cublasStatus_t cublasDestroy(cublasHandle_t handle) __asm__("cublasDestroy_v2");
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version) __asm__("cublasGetVersion_v2");
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) __asm__("cublasSetStream_v2");
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) __asm__("cublasGetStream_v2");
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) __asm__("cublasSetPointerMode_v2");
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode)
    __asm__("cublasGetPointerMode_v2");
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetVector(int n, int elemSize, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasGetVector(int n, int elemSize, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void* x, int incx, void* y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void* x, int incx, void* y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasSetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B, cudaDataType Btype, int ldb,
                                          long long int strideB, const void* beta, void* C, cudaDataType Ctype,
                                          int ldc, long long int strideC, int batchCount,
                                          cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* const Aarray[], cudaDataType Atype,
                                   int lda, const void* const Barray[], cudaDataType Btype, int ldb, const void* beta,
                                   void* const Carray[], cudaDataType Ctype, int ldc, int batchCount,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t algo);

#define __KC_BLAS(S, T, s)                                                                                            \
  __KC_V2_OF(S, axpy, cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y, int incy);            \
  __KC_V2_OF(S, scal, cublasHandle_t handle, int n, const T* alpha, T* x, int incx);                                  \
  __KC_V2_OF(S, copy, cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy);                            \
  __KC_V2_OF(S, swap, cublasHandle_t handle, int n, T* x, int incx, T* y, int incy);                                  \
  __KC_V2_OF(S, dot, cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result);            \
  __KC_V2_OF(S, nrm2, cublasHandle_t handle, int n, const T* x, int incx, T* result);                                 \
  __KC_V2_OF(S, asum, cublasHandle_t handle, int n, const T* x, int incx, T* result);                                 \
  __KC_V2_OF(I, s##amax, cublasHandle_t handle, int n, const T* x, int incx, int* result);                            \
  __KC_V2_OF(I, s##amin, cublasHandle_t handle, int n, const T* x, int incx, int* result);                            \
  __KC_V2_OF(S, gemv, cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha, const T* A,       \
             int lda, const T* x, int incx, const T* beta, T* y, int incy);                                           \
  __KC_V2_OF(S, ger, cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, \
             T* A, int lda);                                                                                          \
  __KC_V2_OF(S, symv, cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* alpha, const T* A, int lda,       \
             const T* x, int incx, const T* beta, T* y, int incy);                                                    \
  __KC_V2_OF(S, trsv, cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,   \
             int n, const T* A, int lda, T* x, int incx);                                                             \
  __KC_V2_OF(S, trmv, cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,   \
             int n, const T* A, int lda, T* x, int incx);                                                             \
  __KC_V2_OF(S, gemm, cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, \
             const T* alpha, const T* A, int lda, const T* B, int ldb, const T* beta, T* C, int ldc);                 \
  __KC_V2_OF(S, syrk, cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,            \
             const T* alpha, const T* A, int lda, const T* beta, T* C, int ldc);                                      \
  __KC_V2_OF(S, symm, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,              \
             const T* alpha, const T* A, int lda, const T* B, int ldb, const T* beta, T* C, int ldc);                 \
  __KC_V2_OF(S, trsm, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,   \
             cublasDiagType_t diag, int m, int n, const T* alpha, const T* A, int lda, T* B, int ldb);                \
  cublasStatus_t cublas##S##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,    \
                                 int n, const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb,      \
                                 T* C, int ldc);                                                                      \
  cublasStatus_t cublas##S##gemmStridedBatched(                                                                       \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha, \
      const T* A, int lda, long long int strideA, const T* B, int ldb, long long int strideB, const T* beta, T* C,    \
      int ldc, long long int strideC, int batchCount);                                                                \
  cublasStatus_t cublas##S##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,    \
                                        int m, int n, int k, const T* alpha, const T* const Aarray[], int lda,        \
                                        const T* const Barray[], int ldb, const T* beta, T* const Carray[], int ldc,  \
                                        int batchCount);

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const __half* alpha, const __half* A, int lda, const __half* B, int ldb,
                           const __half* beta, __half* C, int ldc);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const __half* alpha, const __half* A, int lda,
                                         long long int strideA, const __half* B, int ldb, long long int strideB,
                                         const __half* beta, __half* C, int ldc, long long int strideC,
                                         int batchCount);
cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const __half* alpha, const __half* const Aarray[], int lda,
                                  const __half* const Barray[], int ldb, const __half* beta, __half* const Carray[],
                                  int ldc, int batchCount);
__KC_BLAS(S, float, s)
__KC_BLAS(D, double, d)
}
#undef __KC_BLAS
#undef __KC_V2_OF
