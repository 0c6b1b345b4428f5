#include "instrument/runtime/rand/numbers.h"

#include <algorithm>

namespace kcheck::runtime::rand {

double normalQuantile(double probability) {
  if (probability >= 1) probability = 1 - 0x1p-53;
  // From the approximation of the tail or of the middle, both coarse, to the digits of erfc.
  const double tail = std::min(probability, 1 - probability);
  const double t = std::sqrt(-2 * std::log(tail));
  double x =
      (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int step = 0; step < 3; ++step) {
    const double error = std::erfc(-x / std::numbers::sqrt2) / 2 - tail;
    const double slope = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    const double newton = error / slope;
    x -= newton / (1 + x * newton / 2);
  }
  return probability < 0.5 ? x : -x;
}

template <class LogProbability>
void Discrete::cumulate(double mean, double deviation, double most, LogProbability at) {
  constexpr double widths = 12, margin = 40; // what lies outside is below the digits of a double
  first = static_cast<unsigned>(std::max(0.0, std::floor(mean - widths * deviation - margin)));
  const double last = std::min(most, std::ceil(mean + widths * deviation + margin));
  double sum = 0;
  for (double k = first; k <= last; ++k) cumulated.push_back(sum += std::exp(at(k)));
}

Discrete Discrete::poisson(double lambda) {
  Discrete made;
  made.cumulate(lambda, std::sqrt(lambda), 4e9,
                [lambda](double k) { return k * std::log(lambda) - lambda - std::lgamma(k + 1); });
  return made;
}

Discrete Discrete::binomial(unsigned trials, double probability) {
  Discrete made;
  const double n = trials, p = probability;
  made.cumulate(n * p, std::sqrt(n * p * (1 - p)), n, [n, p](double k) {
    if (p == 0 || p == 1) return k == n * p ? 0.0 : -1e9;
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
           (n - k) * std::log1p(-p);
  });
  return made;
}

unsigned Discrete::quantile(double probability) const {
  auto at = std::lower_bound(cumulated.begin(), cumulated.end(), probability * cumulated.back());
  return first + static_cast<unsigned>(std::min(at, cumulated.end() - 1) - cumulated.begin());
}

} // namespace kcheck::runtime::rand
