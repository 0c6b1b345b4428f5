// cuBLAS on complex numbers, and products of halves by cublasGemmEx, against the same sums written out. needs: libblas
#include "../programs/check.h"
#include <cmath>
#include <complex>
#include <cublas_v2.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>
#define BLAS(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

using Complex = std::complex<float>;

template <class T> struct Array {
  T *data = nullptr;
  std::size_t count;
  explicit Array(const std::vector<T> &values) : count(values.size()) {
    OK(cudaMalloc(&data, count * sizeof(T)));
    OK(cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Array() { cudaFree(data); }
  std::vector<T> host() const {
    std::vector<T> values(count);
    OK(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
};

static std::vector<Complex> numbers(int count, int seed) {
  std::vector<Complex> values(count);
  for (int i = 0; i < count; i++) values[i] = Complex((i * 7 + seed * 13) % 11 - 5, (i * 5 + seed) % 7 - 3);
  return values;
}
static cuComplex *device(const Array<Complex> &array) { return reinterpret_cast<cuComplex *>(array.data); }
static bool near(Complex a, Complex b) { return std::abs(a - b) < 1e-3f; }

static void vectors(cublasHandle_t handle) {
  const int n = 20;
  auto hx = numbers(n, 1), hy = numbers(n, 2);
  Array<Complex> x(hx), y(hy);
  cuComplex factor = make_cuComplex(2, -1), result;
  BLAS(cublasCaxpy(handle, n, &factor, device(x), 1, device(y), 1));
  Complex plain = 0, conjugated = 0;
  float squares = 0, sizes = 0;
  for (int i = 0; i < n; i++) {
    hy[i] += Complex(2, -1) * hx[i];
    plain += hx[i] * hy[i];
    conjugated += std::conj(hx[i]) * hy[i];
    squares += std::norm(hx[i]);
    sizes += std::fabs(hx[i].real()) + std::fabs(hx[i].imag());
  }
  CHECK(y.host() == hy);
  BLAS(cublasCdotu(handle, n, device(x), 1, device(y), 1, &result));
  CHECK(near({result.x, result.y}, plain));
  BLAS(cublasCdotc(handle, n, device(x), 1, device(y), 1, &result));
  CHECK(near({result.x, result.y}, conjugated));
  float length, half = 0.5f;
  BLAS(cublasScnrm2(handle, n, device(x), 1, &length));
  CHECK(std::fabs(length * length - squares) < 1e-2f);
  BLAS(cublasScasum(handle, n, device(x), 1, &length));
  CHECK(std::fabs(length - sizes) < 1e-3f);
  BLAS(cublasCsscal(handle, n, &half, device(x), 1));
  CHECK(x.host()[3] == hx[3] * 0.5f);
}

static void matrices(cublasHandle_t handle) {
  const int n = 6;
  auto ha = numbers(n * n, 3), hb = numbers(n * n, 4);
  Array<Complex> a(ha), b(hb), c(std::vector<Complex>(n * n));
  cuComplex one = make_cuComplex(1, 0), zero = make_cuComplex(0, 0);
  BLAS(cublasCgemm(handle, CUBLAS_OP_C, CUBLAS_OP_N, n, n, n, &one, device(a), n, device(b), n, &zero, device(c), n));
  auto hc = c.host();
  for (int row = 0; row < n; row++)
    for (int column = 0; column < n; column++) {
      Complex sum = 0;
      for (int i = 0; i < n; i++) sum += std::conj(ha[row * n + i]) * hb[column * n + i];
      CHECK(near(hc[column * n + row], sum));
    }
  BLAS(cublasCgerc(handle, n, n, &one, device(a), 1, device(b), 1, device(c), n));
  CHECK(near(c.host()[n], hc[n] + ha[0] * std::conj(hb[1])));
  float real = 1, none = 0;
  BLAS(cublasCherk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, n, 1, &real, device(a), n, &none, device(c), n));
  CHECK(near(c.host()[0], Complex(std::norm(ha[0]), 0)));
  cuDoubleComplex two = make_cuDoubleComplex(0, 2);
  Array<std::complex<double>> z(std::vector<std::complex<double>>{{1, 2}, {3, 4}});
  BLAS(cublasZscal(handle, 2, &two, reinterpret_cast<cuDoubleComplex *>(z.data), 1));
  CHECK(z.host()[1] == std::complex<double>(-8, 6));
}

template <class T> static void narrow(cublasHandle_t handle, cudaDataType type, cudaDataType resultType) {
  const int m = 5, n = 4, k = 3;
  std::vector<T> ha(m * k), hb(k * n);
  for (int i = 0; i < m * k; i++) ha[i] = T(float(i % 7 - 3));
  for (int i = 0; i < k * n; i++) hb[i] = T(float(i % 5 - 2));
  Array<T> a(ha), b(hb), c(std::vector<T>(2 * m * n)); // room for floats
  float two = 2, zero = 0;
  BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &two, a.data, type, m, b.data, type, k, &zero, c.data,
                    resultType, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  auto hc = c.host();
  for (int row = 0; row < m; row++)
    for (int column = 0; column < n; column++) {
      float sum = 0;
      for (int i = 0; i < k; i++) sum += 2 * float(ha[i * m + row]) * float(hb[column * k + i]);
      int at = column * m + row;
      CHECK((resultType == type ? float(hc[at]) : reinterpret_cast<float *>(hc.data())[at]) == sum);
    }
}

int main() {
  cublasHandle_t handle;
  BLAS(cublasCreate(&handle));
  vectors(handle);
  matrices(handle);
  narrow<__half>(handle, CUDA_R_16F, CUDA_R_16F);
  narrow<__half>(handle, CUDA_R_16F, CUDA_R_32F);
  narrow<__nv_bfloat16>(handle, CUDA_R_16BF, CUDA_R_16BF);
  BLAS(cublasDestroy(handle));
  std::puts("PASS");
}
