// cuFFT against the sums written out: sizes with small and large factors, all types, layouts, in place and not.
#include "check.h"
#include <cmath>
#include <complex>
#include <cuda_runtime.h>
#include <cufft.h>
#include <vector>
#define FFT(call) CHECK((call) == CUFFT_SUCCESS)

using Complex = std::complex<double>;

template <class T> struct Array {
  T *data = nullptr;
  size_t count;
  explicit Array(const std::vector<T> &values) : count(values.size()) {
    OK(cudaMalloc(&data, count * sizeof(T)));
    OK(cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit Array(size_t count) : count(count) { OK(cudaMalloc(&data, count * sizeof(T))); }
  ~Array() { OK(cudaFree(data)); }
  template <class To> To *as() { return reinterpret_cast<To *>(data); }
  std::vector<T> host() const {
    std::vector<T> values(count);
    OK(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
};

static double value(size_t i) { return double((i * 7 + i / 5 * 3) % 23) / 8 - 1; }
static std::vector<Complex> numbers(size_t count) {
  std::vector<Complex> all(count);
  for (size_t i = 0; i < count; i++) all[i] = {value(i), value(3 * i + 1)};
  return all;
}

/// The sum along each of up to three dimensions.
static std::vector<Complex> direct(const std::vector<Complex> &in, int x, int y, int z, int direction) {
  std::vector<Complex> out = in;
  const int sizes[] = {x, y, z}, steps[] = {y * z, z, 1};
  for (int d = 0; d < 3; d++) {
    std::vector<Complex> before = out;
    for (size_t i = 0; i < out.size(); i++) {
      const size_t k = i / steps[d] % sizes[d], first = i - k * steps[d];
      Complex sum = 0;
      for (int j = 0; j < sizes[d]; j++)
        sum += before[first + j * steps[d]] * std::polar(1.0, direction * 2 * M_PI * double(j * k % sizes[d]) / sizes[d]);
      out[i] = sum;
    }
  }
  return out;
}

template <class A, class B> static bool near(const std::vector<A> &a, const std::vector<B> &b, double limit) {
  double most = 0, size = 1;
  for (size_t i = 0; i < a.size(); i++) {
    most = std::max(most, std::abs(Complex(a[i]) - Complex(b[i])));
    size = std::max(size, std::abs(Complex(b[i])));
  }
  return a.size() == b.size() && most < limit * size;
}

static void oneDimension(int n) {
  const auto input = numbers(n);
  Array<Complex> in(input), out(n);
  cufftHandle plan;
  FFT(cufftPlan1d(&plan, n, CUFFT_Z2Z, 1));
  for (int direction : {CUFFT_FORWARD, CUFFT_INVERSE}) {
    FFT(cufftExecZ2Z(plan, in.as<cufftDoubleComplex>(), out.as<cufftDoubleComplex>(), direction));
    CHECK(near(out.host(), direct(input, 1, 1, n, direction), 1e-11));
  }
  // there and back again, in place: n times what it was
  FFT(cufftExecZ2Z(plan, in.as<cufftDoubleComplex>(), in.as<cufftDoubleComplex>(), CUFFT_FORWARD));
  FFT(cufftExecZ2Z(plan, in.as<cufftDoubleComplex>(), in.as<cufftDoubleComplex>(), CUFFT_INVERSE));
  auto back = in.host();
  for (Complex &one : back) one /= n;
  CHECK(near(back, input, 1e-12));
  FFT(cufftDestroy(plan));

  std::vector<double> reals(n);
  for (int i = 0; i < n; i++) reals[i] = input[i].real();
  Array<double> real(reals), again(n);
  Array<Complex> half(n / 2 + 1);
  FFT(cufftPlan1d(&plan, n, CUFFT_D2Z, 1));
  FFT(cufftExecD2Z(plan, real.data, half.as<cufftDoubleComplex>()));
  auto whole = direct({reals.begin(), reals.end()}, 1, 1, n, -1);
  whole.resize(n / 2 + 1);
  CHECK(near(half.host(), whole, 1e-11));
  FFT(cufftDestroy(plan));
  FFT(cufftPlan1d(&plan, n, CUFFT_Z2D, 1));
  FFT(cufftExecZ2D(plan, half.as<cufftDoubleComplex>(), again.data));
  auto twice = again.host();
  for (double &one : twice) one /= n;
  CHECK(near(twice, reals, 1e-12));
  FFT(cufftDestroy(plan));
}

static void moreDimensions(int x, int y, int z) {
  const size_t all = size_t(x) * y * z;
  const auto input = numbers(all);
  Array<Complex> in(input);
  cufftHandle plan;
  FFT(x == 1 ? cufftPlan2d(&plan, y, z, CUFFT_Z2Z) : cufftPlan3d(&plan, x, y, z, CUFFT_Z2Z));
  FFT(cufftExecZ2Z(plan, in.as<cufftDoubleComplex>(), in.as<cufftDoubleComplex>(), CUFFT_FORWARD));
  CHECK(near(in.host(), direct(input, x, y, z, -1), 1e-11));
  FFT(cufftDestroy(plan));

  // floats in place: rows of reals have room for the complex numbers that they become
  const int half = z / 2 + 1;
  std::vector<float> rows(size_t(x) * y * 2 * half);
  std::vector<Complex> reals(all);
  for (size_t i = 0; i < all; i++) reals[i] = rows[i / z * 2 * half + i % z] = float(value(i));
  Array<float> place(rows);
  FFT(x == 1 ? cufftPlan2d(&plan, y, z, CUFFT_R2C) : cufftPlan3d(&plan, x, y, z, CUFFT_R2C));
  FFT(cufftExecR2C(plan, place.data, place.as<cufftComplex>()));
  const auto whole = direct(reals, x, y, z, -1);
  const auto got = place.host();
  std::vector<Complex> results, wanted;
  for (size_t row = 0; row < all / z; row++)
    for (int k = 0; k < half; k++) {
      results.push_back({got[2 * (row * half + k)], got[2 * (row * half + k) + 1]});
      wanted.push_back(whole[row * z + k]);
    }
  CHECK(near(results, wanted, 1e-5));
  FFT(cufftDestroy(plan));
  FFT(x == 1 ? cufftPlan2d(&plan, y, z, CUFFT_C2R) : cufftPlan3d(&plan, x, y, z, CUFFT_C2R));
  FFT(cufftExecC2R(plan, place.as<cufftComplex>(), place.data));
  const auto back = place.host();
  for (size_t i = 0; i < all; i++) CHECK(std::fabs(back[i / z * 2 * half + i % z] / all - reals[i].real()) < 1e-5);
  FFT(cufftDestroy(plan));
}

/// Columns of a matrix, one after the other in each row, into rows.
static void columns() {
  int n = 12, batch = 5, embed[] = {12};
  const auto input = numbers(n * batch);
  Array<Complex> in(input), out(n * batch);
  cufftHandle plan;
  size_t bytes = 0;
  FFT(cufftCreate(&plan));
  FFT(cufftSetAutoAllocation(plan, 0));
  FFT(cufftMakePlanMany(plan, 1, &n, embed, batch, 1, embed, 1, n, CUFFT_Z2Z, batch, &bytes));
  CHECK(cufftExecZ2Z(plan, in.as<cufftDoubleComplex>(), out.as<cufftDoubleComplex>(), CUFFT_FORWARD) ==
        CUFFT_NO_WORKSPACE);
  Array<char> room(bytes);
  FFT(cufftSetWorkArea(plan, room.data));
  FFT(cufftExecZ2Z(plan, in.as<cufftDoubleComplex>(), out.as<cufftDoubleComplex>(), CUFFT_FORWARD));
  const auto got = out.host();
  for (int b = 0; b < batch; b++) {
    std::vector<Complex> column(n);
    for (int i = 0; i < n; i++) column[i] = input[i * batch + b];
    CHECK(near(std::vector<Complex>(got.begin() + b * n, got.begin() + (b + 1) * n), direct(column, 1, 1, n, -1), 1e-11));
  }
  FFT(cufftDestroy(plan));
  // the same in place, from columns to columns
  FFT(cufftPlanMany(&plan, 1, &n, embed, batch, 1, embed, batch, 1, CUFFT_Z2Z, batch));
  FFT(cufftExecZ2Z(plan, in.as<cufftDoubleComplex>(), in.as<cufftDoubleComplex>(), CUFFT_FORWARD));
  const auto placed = in.host();
  for (int i = 0; i < n * batch; i++) CHECK(std::abs(placed[i % n * batch + i / n] - got[i]) < 1e-9);
  FFT(cufftDestroy(plan));
}

static void statuses() {
  cufftHandle plan;
  cufftComplex *none = nullptr;
  CHECK(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
  CHECK(cufftPlan1d(&plan, 8, (cufftType)1, 1) == CUFFT_INVALID_TYPE);
  CHECK(cufftExecC2C(-1, none, none, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
  FFT(cufftCreate(&plan));
  CHECK(cufftExecC2C(plan, none, none, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
  size_t bytes = 0;
  FFT(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes));
  CHECK(cufftExecC2C(plan, none, none, CUFFT_FORWARD) == CUFFT_INVALID_VALUE);
  CHECK(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes) == CUFFT_INVALID_PLAN);
  FFT(cufftDestroy(plan));
  CHECK(cufftDestroy(plan) == CUFFT_INVALID_PLAN);
}

int main() {
  for (int n = 1; n <= 40; n++) oneDimension(n);
  for (int n : {64, 97, 100, 169, 323, 1001, 1009, 1024}) oneDimension(n);
  moreDimensions(1, 6, 8);
  moreDimensions(1, 17, 5);
  moreDimensions(3, 4, 10);
  moreDimensions(5, 2, 7);
  columns();
  statuses();
  std::puts("PASS");
}
