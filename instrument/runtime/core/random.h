// A small deterministic generator for the random schedule: the same seed, the same order, on every machine.
#pragma once

#include <cstdint>
#include <utility>

namespace kcheck::runtime {

class Random {
public:
  explicit Random(std::uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 0x1234567) {}
  std::uint32_t next() { // splitmix64
    std::uint64_t mixed = state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return static_cast<std::uint32_t>((mixed ^ mixed >> 31) >> 32);
  }
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(std::uint64_t{next()} * bound >> 32);
  }
  template <class T> void shuffle(T* values, std::uint32_t count) {
    for (std::uint32_t i = count; i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

private:
  std::uint64_t state;
};

} // namespace kcheck::runtime
