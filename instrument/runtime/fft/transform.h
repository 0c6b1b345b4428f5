// Discrete Fourier transforms of any length in n log n steps: by mixed radix where the factors of n are
// small, else by Bluestein's convolution. In double precision, whatever the program's numbers are.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

namespace kcheck::runtime::fft {

using Complex = std::complex<double>;

class Transform {
public:
  explicit Transform(std::size_t size);
  ~Transform();
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  /// out[k] = sum of in[j * step] * exp(-2 pi i j k / size), unscaled; `inverse`: with +. `out` is no part of
  /// `in`.
  void run(const Complex* in, std::size_t step, Complex* out, bool inverse) const;

private:
  void level(const Complex* in, std::size_t step, Complex* out, std::size_t size, std::size_t depth,
             bool inverse) const;
  void bluestein(const Complex* in, std::size_t step, Complex* out, bool inverse) const;
  Complex root(std::size_t index, bool inverse) const {
    return inverse ? std::conj(roots[index]) : roots[index];
  }

  std::size_t size;
  std::vector<std::size_t> factors; ///< empty where there is a convolution
  std::vector<Complex> roots;       ///< exp(-2 pi i k / size)
  // Bluestein: a convolution with exp(pi i k^2 / size), by a transform whose size is a power of two.
  std::unique_ptr<Transform> wide;
  std::vector<Complex> chirp, spectrum;
};

/// The transform of that size; it stays.
const Transform& transform(std::size_t size);

} // namespace kcheck::runtime::fft
