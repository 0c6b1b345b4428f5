#include "instrument/runtime/fft/transform.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

namespace kcheck::runtime::fft {
namespace {

constexpr std::size_t kLargestFactor = 13;

/// Fours first: they cost least.
std::vector<std::size_t> factorsOf(std::size_t size) {
  std::vector<std::size_t> factors;
  for (std::size_t factor : {4, 2, 3, 5, 7, 11, 13})
    for (; size % factor == 0; size /= factor) factors.push_back(factor);
  if (size > 1) factors.clear();
  return factors;
}

/// exp(-pi i numerator / denominator), for a numerator below twice the denominator.
Complex unitRoot(std::size_t numerator, std::size_t denominator) {
  const double angle = -std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(denominator);
  return {std::cos(angle), std::sin(angle)};
}

} // namespace

Transform::Transform(std::size_t size) : size(size), factors(factorsOf(size)) {
  if (size == 1 || !factors.empty()) {
    for (std::size_t k = 0; k < size; ++k) roots.push_back(unitRoot(2 * k, size));
    return;
  }
  const std::size_t wideSize = std::bit_ceil(2 * size - 1);
  wide = std::make_unique<Transform>(wideSize);
  std::size_t square = 0; // k * k modulo 2 * size
  for (std::size_t k = 0; k < size; square = (square + 2 * k + 1) % (2 * size), ++k)
    chirp.push_back(unitRoot(square, size));
  std::vector<Complex> kernel(wideSize);
  for (std::size_t k = 0; k < size; ++k) kernel[k] = kernel[(wideSize - k) % wideSize] = std::conj(chirp[k]);
  spectrum.resize(wideSize);
  wide->run(kernel.data(), 1, spectrum.data(), false);
}

Transform::~Transform() = default;

void Transform::run(const Complex* in, std::size_t step, Complex* out, bool inverse) const {
  if (wide) return bluestein(in, step, out, inverse);
  level(in, step, out, size, 0, inverse);
}

void Transform::level(const Complex* in, std::size_t step, Complex* out, std::size_t length,
                      std::size_t depth, bool inverse) const {
  if (length == 1) {
    *out = *in;
    return;
  }
  const std::size_t radix = factors[depth], part = length / radix, rootStep = size / length;
  for (std::size_t q = 0; q < radix; ++q)
    level(in + q * step, step * radix, out + q * part, part, depth + 1, inverse);
  Complex turned[kLargestFactor];
  for (std::size_t k = 0; k < part; ++k) {
    for (std::size_t q = 0; q < radix; ++q) turned[q] = out[q * part + k] * root(q * k * rootStep, inverse);
    if (radix == 2) {
      out[k] = turned[0] + turned[1];
      out[part + k] = turned[0] - turned[1];
      continue;
    }
    if (radix == 4) {
      const Complex even = turned[0] + turned[2], odd = turned[1] + turned[3], left = turned[0] - turned[2];
      Complex right = turned[1] - turned[3];
      right = inverse ? Complex(-right.imag(), right.real()) : Complex(right.imag(), -right.real());
      out[k] = even + odd;
      out[part + k] = left + right;
      out[2 * part + k] = even - odd;
      out[3 * part + k] = left - right;
      continue;
    }
    for (std::size_t j = 0; j < radix; ++j) {
      Complex sum = turned[0];
      for (std::size_t q = 1; q < radix; ++q)
        sum += turned[q] * root(j * q % radix * (size / radix), inverse);
      out[j * part + k] = sum;
    }
  }
}

void Transform::bluestein(const Complex* in, std::size_t step, Complex* out, bool inverse) const {
  // The inverse is the transform of the conjugate, conjugated.
  auto turned = [inverse](Complex value) { return inverse ? std::conj(value) : value; };
  const std::size_t wideSize = spectrum.size();
  std::vector<Complex> padded(wideSize), product(wideSize);
  for (std::size_t j = 0; j < size; ++j) padded[j] = turned(in[j * step]) * chirp[j];
  wide->run(padded.data(), 1, product.data(), false);
  for (std::size_t k = 0; k < wideSize; ++k) product[k] *= spectrum[k];
  wide->run(product.data(), 1, padded.data(), true);
  for (std::size_t k = 0; k < size; ++k)
    out[k] = turned(padded[k] * chirp[k] / static_cast<double>(wideSize));
}

const Transform& transform(std::size_t size) {
  static auto* const made = new std::map<std::size_t, std::unique_ptr<Transform>>;
  static std::mutex guard;
  std::lock_guard lock(guard);
  auto& entry = (*made)[size];
  if (!entry) entry = std::make_unique<Transform>(size);
  return *entry;
}

} // namespace kcheck::runtime::fft
