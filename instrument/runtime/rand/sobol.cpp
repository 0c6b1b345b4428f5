#include "instrument/runtime/rand/sobol.h"

#include "instrument/runtime/rand/philox.h"

#include <bit>
#include <initializer_list>
#include <mutex>
#include <vector>

namespace kcheck::runtime::rand {
namespace {

/// Bit i is the coefficient of x^i.
using Polynomial = std::uint32_t;

/// a * b modulo the polynomial, over the field of two elements.
std::uint32_t product(std::uint32_t a, std::uint32_t b, Polynomial modulus, unsigned degree) {
  std::uint32_t sum = 0;
  for (; b; b >>= 1) {
    if (b & 1) sum ^= a;
    a <<= 1;
    if (a >> degree & 1) a ^= modulus;
  }
  return sum;
}

std::uint32_t power(std::uint32_t exponent, Polynomial modulus, unsigned degree) {
  std::uint32_t result = 1, base = degree == 1 ? 2 ^ modulus : 2; // x
  for (; exponent; exponent >>= 1, base = product(base, base, modulus, degree))
    if (exponent & 1) result = product(result, base, modulus, degree);
  return result;
}

/// Whether x takes as many powers as there are values other than zero.
bool isPrimitive(Polynomial polynomial, unsigned degree) {
  const std::uint32_t order = (1U << degree) - 1;
  if (power(order, polynomial, degree) != 1) return false;
  std::uint32_t left = order;
  for (std::uint32_t prime = 2; left > 1; ++prime) {
    if (prime * prime > left) prime = left;
    if (left % prime) continue;
    if (power(order / prime, polynomial, degree) == 1) return false;
    while (left % prime == 0) left /= prime;
  }
  return true;
}

/// The starting values that Joe and Kuo give for the second to the sixteenth dimension.
constexpr std::uint8_t kStarts[][6] = {{1},
                                       {1, 3},
                                       {1, 3, 1},
                                       {1, 1, 1},
                                       {1, 1, 3, 3},
                                       {1, 3, 5, 13},
                                       {1, 1, 5, 5, 17},
                                       {1, 1, 5, 5, 5},
                                       {1, 1, 7, 11, 19},
                                       {1, 1, 5, 1, 1},
                                       {1, 1, 1, 3, 11},
                                       {1, 3, 5, 5, 31},
                                       {1, 3, 3, 9, 7, 49},
                                       {1, 1, 1, 15, 21, 21},
                                       {1, 3, 1, 13, 27, 49}};

/// Polynomials and vectors of the dimensions so far, made as they are asked for.
struct Table {
  std::mutex guard;
  std::vector<Directions*> all;
  unsigned degree = 1;
  Polynomial last = 1; ///< the polynomial tried last

  Polynomial nextPrimitive() {
    for (;;) {
      last += 2; // the constant term is one
      if (last >> (degree + 1)) last = (1U << ++degree) + 1;
      if (last >> degree & 1 && isPrimitive(last, degree)) return last;
    }
  }

  Directions made(unsigned dimension) {
    Directions vectors{};
    if (dimension == 0) {
      for (unsigned i = 0; i < 64; ++i) vectors[i] = 1ULL << (63 - i);
      return vectors;
    }
    const Polynomial polynomial = nextPrimitive();
    for (unsigned i = 0; i < 64; ++i) {
      if (i < degree) {
        const bool given = dimension <= std::size(kStarts);
        std::uint64_t start =
            given ? kStarts[dimension - 1][i] : philox(dimension, i)[0] % (1ULL << (i + 1)) | 1;
        vectors[i] = start << (63 - i);
        continue;
      }
      vectors[i] = vectors[i - degree] ^ vectors[i - degree] >> degree;
      for (unsigned k = 1; k < degree; ++k)
        if (polynomial >> (degree - k) & 1) vectors[i] ^= vectors[i - k];
    }
    return vectors;
  }
};

Table& table() {
  static auto* const made = new Table; // programs may use it until the very end
  return *made;
}

} // namespace

const Directions& directions(unsigned dimension) {
  std::lock_guard lock(table().guard);
  while (table().all.size() <= dimension)
    table().all.push_back(new Directions(table().made(static_cast<unsigned>(table().all.size()))));
  return *table().all[dimension];
}

Directions scrambledDirections(unsigned dimension) {
  // A lower triangle with ones in its diagonal, times each vector: the leading bits stay where they are.
  Directions rows{};
  for (unsigned i = 0; i < 64; ++i) {
    const Block random = philox(dimension, i, 1);
    const std::uint64_t bits = std::uint64_t{random[0]} << 32 | random[1], one = 1ULL << (63 - i);
    rows[i] = (bits & ~(one | (one - 1))) | one;
  }
  Directions result{};
  const Directions& plain = directions(dimension);
  for (unsigned k = 0; k < 64; ++k)
    for (unsigned i = 0; i < 64; ++i)
      if (std::popcount(rows[i] & plain[k]) & 1) result[k] |= 1ULL << (63 - i);
  return result;
}

std::uint64_t scrambleConstant(unsigned dimension) {
  const Block random = philox(dimension, 0, 2);
  return std::uint64_t{random[0]} << 32 | random[1];
}

} // namespace kcheck::runtime::rand
