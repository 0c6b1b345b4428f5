// cuRAND's host interface: moments of its distributions, what seed and offset mean, and its status codes.
#include "check.h"
#include <cmath>
#include <cuda_runtime.h>
#include <curand.h>
#include <vector>
#define RAND(call) CHECK((call) == CURAND_STATUS_SUCCESS)

const size_t n = 1 << 16;

template <class T> struct Array {
  T *data = nullptr;
  size_t count;
  explicit Array(size_t count) : count(count) { OK(cudaMalloc(&data, count * sizeof(T))); }
  ~Array() { OK(cudaFree(data)); }
  std::vector<T> host() const {
    std::vector<T> values(count);
    OK(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
};

template <class T> static void moments(const std::vector<T> &values, double mean, double deviation) {
  double sum = 0, squares = 0;
  for (T value : values) sum += value;
  const double own = sum / values.size();
  for (T value : values) {
    const double off = value - own;
    squares += off * off;
  }
  const double variance = squares / values.size();
  CHECK(std::fabs(own - mean) < 5 * deviation / std::sqrt(values.size()));
  CHECK(std::fabs(variance / (deviation * deviation) - 1) < 0.05);
}

static void pseudo(curandRngType_t type) {
  curandGenerator_t generator;
  RAND(curandCreateGenerator(&generator, type));
  RAND(curandSetPseudoRandomGeneratorSeed(generator, 42));
  RAND(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_DEFAULT));
  Array<float> floats(n);
  Array<double> doubles(n);
  Array<unsigned> words(n);
  RAND(curandGenerateUniform(generator, floats.data, n));
  const auto first = floats.host();
  moments(first, 0.5, std::sqrt(1 / 12.0));
  double together = 0;
  for (size_t i = 0; i < n; i++) {
    CHECK(first[i] > 0 && first[i] <= 1);
    together += (first[i] - 0.5) * (first[(i + 1) % n] - 0.5);
  }
  CHECK(std::fabs(together / n) < 5 / 12.0 / std::sqrt(n));
  RAND(curandGenerateUniformDouble(generator, doubles.data, n));
  moments(doubles.host(), 0.5, std::sqrt(1 / 12.0));
  RAND(curandGenerateNormal(generator, floats.data, n, 3, 2));
  moments(floats.host(), 3, 2);
  RAND(curandGenerateNormalDouble(generator, doubles.data, n, -1, 0.5));
  const auto normal = doubles.host();
  moments(normal, -1, 0.5);
  size_t within = 0;
  for (double value : normal) within += std::fabs(value + 1) < 0.5;
  CHECK(std::fabs(double(within) / n - 0.6827) < 0.01);
  RAND(curandGenerateLogNormal(generator, floats.data, n, 0, 0.25f));
  const double variance = 0.25 * 0.25;
  moments(floats.host(), std::exp(variance / 2), std::sqrt((std::exp(variance) - 1) * std::exp(variance)));
  for (double lambda : {0.5, 12.0, 5000.0}) {
    RAND(curandGeneratePoisson(generator, words.data, n, lambda));
    moments(words.host(), lambda, std::sqrt(lambda));
  }
  RAND(curandGenerate(generator, words.data, n));
  size_t ones = 0;
  for (unsigned word : words.host()) ones += __builtin_popcount(word);
  CHECK(std::fabs(double(ones) / (32 * n) - 0.5) < 0.002);

  // the same seed gives the same numbers, an offset skips, and another seed gives others
  RAND(curandSetPseudoRandomGeneratorSeed(generator, 42));
  RAND(curandGenerateUniform(generator, floats.data, n));
  CHECK(floats.host() == first);
  RAND(curandSetGeneratorOffset(generator, 7));
  RAND(curandGenerateUniform(generator, floats.data, n));
  CHECK(floats.host()[0] == first[7]);
  RAND(curandSetPseudoRandomGeneratorSeed(generator, 43));
  RAND(curandGenerateUniform(generator, floats.data, n));
  CHECK(floats.host()[0] != first[0]);

  CHECK(curandGenerateNormal(generator, floats.data, 5, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  CHECK(curandSetQuasiRandomGeneratorDimensions(generator, 2) == CURAND_STATUS_TYPE_ERROR);
  CHECK(curandSetGeneratorOrdering(generator, CURAND_ORDERING_QUASI_DEFAULT) == CURAND_STATUS_OUT_OF_RANGE);
  CHECK(curandGeneratePoisson(generator, words.data, n, 0) == CURAND_STATUS_OUT_OF_RANGE);
  RAND(curandDestroyGenerator(generator));
  CHECK(curandDestroyGenerator(generator) == CURAND_STATUS_NOT_INITIALIZED);
  CHECK(curandGenerateUniform(generator, floats.data, n) == CURAND_STATUS_NOT_INITIALIZED);
}

/// Each dimension puts one point into each of `points` equal parts of (0, 1].
static void quasi(curandRngType_t type, bool isPlain) {
  const unsigned dimensions = 40, points = 1024;
  curandGenerator_t generator;
  RAND(curandCreateGenerator(&generator, type));
  RAND(curandSetQuasiRandomGeneratorDimensions(generator, dimensions));
  Array<float> floats(dimensions * points);
  Array<double> doubles(dimensions * points);
  CHECK(curandGenerateUniform(generator, floats.data, points - 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  RAND(curandGenerateUniformDouble(generator, doubles.data, dimensions * points));
  const auto values = doubles.host();
  for (unsigned d = 0; d < dimensions; d++) {
    std::vector<int> parts(points);
    for (unsigned i = 0; i < points; i++) parts[unsigned(values[d * points + i] * points)]++;
    for (int part : parts) CHECK(part == 1);
  }
  if (isPlain) { // the first points of the first dimensions
    CHECK(std::fabs(values[1] - 0.5) < 1e-6 && std::fabs(values[2] - 0.75) < 1e-6);
    CHECK(std::fabs(values[points + 2] - 0.25) < 1e-6 && std::fabs(values[2 * points + 4] - 0.625) < 1e-6);
  }
  RAND(curandGenerateNormal(generator, floats.data, dimensions * points, 1, 2));
  moments(floats.host(), 1, 2);
  CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1) == CURAND_STATUS_TYPE_ERROR);
  const bool isLong = type >= CURAND_RNG_QUASI_SOBOL64;
  Array<unsigned long long> words(dimensions);
  CHECK(curandGenerateLongLong(generator, words.data, dimensions) ==
        (isLong ? CURAND_STATUS_SUCCESS : CURAND_STATUS_TYPE_ERROR));
  RAND(curandDestroyGenerator(generator));
}

int main() {
  pseudo(CURAND_RNG_PSEUDO_DEFAULT);
  pseudo(CURAND_RNG_PSEUDO_MT19937);
  quasi(CURAND_RNG_QUASI_SOBOL32, true);
  quasi(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, false);
  quasi(CURAND_RNG_QUASI_SOBOL64, true);
  quasi(CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, false);

  curandGenerator_t generator;
  CHECK(curandCreateGenerator(&generator, CURAND_RNG_TEST) == CURAND_STATUS_TYPE_ERROR);
  RAND(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_MRG32K3A));
  std::vector<double> host(n);
  RAND(curandGenerateNormalDouble(generator, host.data(), n, 10, 3));
  moments(host, 10, 3);
  RAND(curandDestroyGenerator(generator));

  curandDirectionVectors32_t *vectors;
  unsigned *constants;
  RAND(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
  RAND(curandGetScrambleConstants32(&constants));
  CHECK(vectors[0][0] == 0x80000000u && vectors[0][31] == 1 && vectors[19999][0] == 0x80000000u);
  int version = 0;
  RAND(curandGetVersion(&version));
  CHECK(version > 10000);
  std::puts("PASS");
}
