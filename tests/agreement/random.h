// The numbers from which kernels are drawn.
#pragma once

#include <cstdint>
#include <vector>

namespace kcheck::agreement {

/// splitmix64: small, and the same everywhere.
class Random {
public:
  explicit Random(std::uint64_t seed) : state(seed * 0xd1342543de82ef95ull + 1) {
    below(1);
    state *= 0xaf251af3b0f025b5ull; // else the streams of neighbours are one stream, shifted
  }
  unsigned below(unsigned limit) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return unsigned((z ^ (z >> 31)) % limit);
  }
  bool oneIn(unsigned n) { return below(n) == 0; }
  template <typename T> const T& of(const std::vector<T>& list) { return list[below(unsigned(list.size()))]; }

private:
  std::uint64_t state;
};

} // namespace kcheck::agreement
