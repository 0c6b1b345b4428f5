// cuBLAS levels 1 to 3 by the system's BLAS, against the same sums written out. needs: libblas
#include "../programs/check.h"
#include <cmath>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <vector>
#define BLAS(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

template <class T> struct Array {
  T *data = nullptr;
  int count;
  explicit Array(int count) : count(count) { OK(cudaMalloc(&data, count * sizeof(T))); }
  explicit Array(const std::vector<T> &values) : Array((int)values.size()) {
    BLAS(cublasSetVector(count, sizeof(T), values.data(), 1, data, 1));
  }
  ~Array() { cudaFree(data); }
  std::vector<T> host() const {
    std::vector<T> values(count);
    BLAS(cublasGetVector(count, sizeof(T), data, 1, values.data(), 1));
    return values;
  }
};

static std::vector<double> numbers(int count, int seed) {
  std::vector<double> values(count);
  for (int i = 0; i < count; i++) values[i] = (i * 7 + seed * 13) % 11 - 5;
  return values;
}
static bool near(double a, double b) { return std::fabs(a - b) < 1e-9; }

__global__ void twice(double *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

static void vectors(cublasHandle_t handle) {
  const int n = 40;
  auto hx = numbers(n, 1), hy = numbers(n, 2);
  Array<double> x(hx), y(hy);
  double two = 2, result = 0, want = 0;
  BLAS(cublasDaxpy(handle, n, &two, x.data, 1, y.data, 1));
  for (int i = 0; i < n; i++) hy[i] += 2 * hx[i];
  CHECK(y.host() == hy);
  BLAS(cublasDdot(handle, n / 2, x.data, 2, y.data, 1, &result));
  for (int i = 0; i < n / 2; i++) want += hx[2 * i] * hy[i];
  CHECK(near(result, want));
  BLAS(cublasDnrm2(handle, n, x.data, 1, &result));
  want = 0;
  for (double v : hx) want += v * v;
  CHECK(near(result * result, want));
  BLAS(cublasDasum(handle, n, x.data, 1, &result));
  want = 0;
  for (double v : hx) want += std::fabs(v);
  CHECK(near(result, want));
  int place = 0;
  BLAS(cublasIdamax(handle, n, x.data, 1, &place));
  CHECK(std::fabs(hx[place - 1]) == 5);
  BLAS(cublasIdamin(handle, n, x.data, 1, &place));
  CHECK(hx[place - 1] == 0);
  BLAS(cublasDscal(handle, n, &two, x.data, 1));
  for (double &v : hx) v *= 2;
  BLAS(cublasDswap(handle, n, x.data, 1, y.data, 1));
  CHECK(x.host() == hy && y.host() == hx);
  BLAS(cublasDcopy(handle, n, x.data, 1, y.data, 1));
  CHECK(y.host() == hy);
}

static void deviceScalars(cublasHandle_t handle) {
  Array<double> x(numbers(8, 3)), alpha(std::vector<double>{3}), result(1);
  BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  BLAS(cublasDscal(handle, 8, alpha.data, x.data, 1));
  BLAS(cublasDasum(handle, 8, x.data, 1, result.data));
  BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  double want = 0;
  for (double v : numbers(8, 3)) want += 3 * std::fabs(v);
  CHECK(near(result.host()[0], want));
}

static void matrices(cublasHandle_t handle) {
  const int m = 6, n = 4, k = 5;
  auto ha = numbers(m * k, 1), hb = numbers(k * n, 2);
  Array<double> a(ha), b(hb), c(m * n), c2(2 * m * n), v(m);
  double one = 1, zero = 0;
  auto product = [&](int i, int j) {
    double sum = 0;
    for (int l = 0; l < k; l++) sum += ha[i + l * m] * hb[l + j * k];
    return sum;
  };
  BLAS(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.data, m, b.data, k, &zero, c.data, m));
  twice<<<1, 32>>>(c.data, m * n);
  auto hc = c.host();
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) CHECK(near(hc[i + j * m], 2 * product(i, j)));
  BLAS(cublasDgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.data, m, 0, b.data, k, 0, &zero,
                                 c2.data, m, m * n, 2));
  CHECK(near(c2.host()[m * n + 1], product(1, 0)));
  std::vector<double *> pa{a.data, a.data}, pb{b.data, b.data}, pc{c2.data, c2.data + m * n};
  Array<double *> da(pa), db(pb), dc(pc);
  BLAS(cublasDgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, da.data, m, db.data, k, &one, dc.data, m, 2));
  CHECK(near(c2.host()[m * n + 1], 2 * product(1, 0)));
  BLAS(cublasDgemv(handle, CUBLAS_OP_N, m, k, &one, a.data, m, b.data, 1, &zero, v.data, 1));
  CHECK(near(v.host()[3], product(3, 0)));
  BLAS(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, k, m, &one, a.data, m, &zero, nullptr, k, c2.data, k));
  CHECK(c2.host()[1 + 2 * k] == ha[2 + 1 * m]);
  CHECK(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.data, m - 1, b.data, k, &zero, c.data, m) ==
        CUBLAS_STATUS_INVALID_VALUE);
}

/// Only the halves that BLAS looks at are written.
static void halves(cublasHandle_t handle) {
  const int n = 4;
  Array<float> a(n * n), x(std::vector<float>{4, 6, 8, 10}), s(n * n), y(n);
  for (int j = 0; j < n; j++) {
    std::vector<float> column(n - j, 2);
    OK(cudaMemcpy(a.data + j * n + j, column.data(), (n - j) * sizeof(float), cudaMemcpyHostToDevice));
  }
  float one = 1, zero = 0;
  BLAS(cublasStrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, a.data, n, x.data, 1));
  CHECK((x.host() == std::vector<float>{2, 1, 1, 1}));
  BLAS(cublasSsymv(handle, CUBLAS_FILL_MODE_LOWER, n, &one, a.data, n, x.data, 1, &zero, y.data, 1));
  CHECK((y.host() == std::vector<float>{10, 10, 10, 10}));
  BLAS(cublasStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, 1, &one,
                   a.data, n, y.data, n));
  CHECK((y.host() == std::vector<float>{5, 0, 0, 0}));
  BLAS(cublasSsyrk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, n, 1, &one, x.data, n, &zero, s.data, n));
  float corner = 0;
  OK(cudaMemcpy(&corner, s.data + 3 * n, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(corner == 2);
  Array<float> full(std::vector<float>(n * n, 0.f));
  BLAS(cublasSger(handle, n, n, &one, x.data, 1, x.data, 1, full.data, n));
  CHECK(full.host()[0] == 4);
}

int main() {
  cublasHandle_t handle;
  BLAS(cublasCreate(&handle));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  BLAS(cublasSetStream(handle, stream));
  vectors(handle);
  deviceScalars(handle);
  matrices(handle);
  halves(handle);
  BLAS(cublasDestroy(handle));
  OK(cudaStreamDestroy(stream));
  std::puts("PASS");
}
