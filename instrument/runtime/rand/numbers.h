// The numbers of one call, one after the other: of a pseudorandom generator words of its sequence, of a
// quasirandom one a point each.
#pragma once

#include "instrument/runtime/rand/generator.h"
#include "instrument/runtime/rand/philox.h"
#include "instrument/runtime/rand/sobol.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

namespace kcheck::runtime::rand {

/// In (0, 1], as cuRAND has it.
inline float unit(std::uint32_t word) { return static_cast<float>(word) * 0x1p-32F + 0x1p-33F; }
inline double unit(std::uint64_t word) { return (static_cast<double>(word >> 11) + 1) * 0x1p-53; }

/// The value below which a standard normal variable lies with this probability, which is not 0.
double normalQuantile(double probability);

class Pseudo {
public:
  Pseudo(const Generator& generator, std::uint64_t position)
      : key(generator.seed), stream(static_cast<std::uint64_t>(generator.type)), at(position) {}
  std::uint64_t position() const { return at; }

  std::uint32_t word() {
    if (std::uint64_t number = at / 4; number != known) block = philox(key, known = number, stream);
    return block[at++ % 4];
  }
  std::uint64_t longWord() {
    std::uint64_t high = word();
    return high << 32 | word();
  }
  float uniform() { return unit(word()); }
  double uniformDouble() { return unit(longWord()); }
  /// By Box and Muller: two at a time.
  float normal() {
    return pair<float>([this] { return uniform(); });
  }
  double normalDouble() {
    return pair<double>([this] { return uniformDouble(); });
  }

private:
  template <class T, class Take> T pair(Take take) {
    if (hasSecond) {
      hasSecond = false;
      return static_cast<T>(second);
    }
    T radius = std::sqrt(T(-2) * std::log(take())), angle = T(2) * std::numbers::pi_v<T> * take();
    hasSecond = true;
    second = static_cast<double>(radius * std::cos(angle));
    return radius * std::sin(angle);
  }

  std::uint64_t key, stream, at, known = ~std::uint64_t{};
  Block block{};
  bool hasSecond = false;
  double second = 0;
};

class Quasi {
public:
  Quasi(const Generator& generator, unsigned dimension, std::uint64_t position)
      : vectors(generator.isScrambled() ? scrambledDirections(dimension) : directions(dimension)),
        at(position), bits(generator.hasLongWords() ? 64 : 32),
        point(generator.isScrambled() ? scrambleConstant(dimension) : 0) {
    for (std::uint64_t gray = at ^ at >> 1, k = 0; k < bits; ++k)
      if (gray >> k & 1) point ^= vectors[k];
  }

  std::uint32_t word() { return static_cast<std::uint32_t>(longWord() >> 32); }
  std::uint64_t longWord() {
    std::uint64_t now = point;
    auto change = static_cast<unsigned>(std::countr_one(at++));
    if (change < bits) point ^= vectors[change];
    return now;
  }
  float uniform() { return unit(word()); }
  double uniformDouble() {
    return bits == 64 ? unit(longWord()) : static_cast<double>(word()) * 0x1p-32 + 0x1p-33;
  }
  float normal() { return static_cast<float>(normalDouble()); }
  double normalDouble() { return normalQuantile(uniformDouble()); }

private:
  Directions vectors;
  std::uint64_t at;
  unsigned bits;
  std::uint64_t point;
};

/// A distribution over whole numbers, by its cumulated probabilities.
class Discrete {
public:
  static Discrete poisson(double lambda);
  static Discrete binomial(unsigned trials, double probability);
  /// The smallest number up to which `probability` is reached.
  unsigned quantile(double probability) const;

private:
  template <class LogProbability>
  void cumulate(double mean, double deviation, double most, LogProbability at);
  unsigned first = 0;
  std::vector<double> cumulated;
};

} // namespace kcheck::runtime::rand
