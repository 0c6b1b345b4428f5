// Philox4x32-10, the counter-based generator of J. Salmon and others (SC11): each block of four words is a
// function of key and number.
#pragma once

#include <array>
#include <cstdint>

namespace kcheck::runtime::rand {

using Block = std::array<std::uint32_t, 4>;

inline Block philox(std::uint64_t key, std::uint64_t number, std::uint64_t stream = 0) {
  constexpr std::uint64_t multiplierA = 0xD2511F53, multiplierB = 0xCD9E8D57;
  constexpr std::uint32_t stepA = 0x9E3779B9, stepB = 0xBB67AE85;
  auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  Block at{low(number), high(number), low(stream), high(stream)};
  std::uint32_t keyA = low(key), keyB = high(key);
  for (int round = 0; round < 10; ++round, keyA += stepA, keyB += stepB) {
    std::uint64_t a = multiplierA * at[0], b = multiplierB * at[2];
    at = {high(b) ^ at[1] ^ keyA, low(b), high(a) ^ at[3] ^ keyB, low(a)};
  }
  return at;
}

} // namespace kcheck::runtime::rand
