// What the main of a launch line uses to fill its arrays. Deterministic: the same values in every run.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

extern "C" void kcLaunchesMeet(); // the runtime's: kernels with a grid barrier are launched cooperatively

enum class kcheckContent { pattern, zero, iota, random, mixed, value };

/// Elements of vector types and records are filled by their first member's type when they have an `x`, else as bytes.
template <typename T, typename = void> struct kcheckLane {
  using type = typename std::conditional<std::is_arithmetic<T>::value, T, unsigned char>::type;
};
template <typename T> struct kcheckLane<T, std::void_t<decltype(T::x)>> {
  using type = typename std::remove_reference<decltype(T::x)>::type;
};

template <typename T> T kcheckElement(std::size_t i, kcheckContent content, std::uint64_t& seed) {
  switch (content) {
  case kcheckContent::zero: return T(0);
  case kcheckContent::iota: return T(i);
  case kcheckContent::mixed: return T((i / (1 + seed % 5) + seed) % 4); // arrays do not go in step
  case kcheckContent::random:
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    if (std::is_floating_point<T>::value) return T(double(seed >> 11) / double(1ull << 53));
    return T(seed >> 33);
  default: return T(1 + i % 7);
  }
}

template <typename T, typename V> void kcheckFill(T* array, std::size_t count, kcheckContent content, V value) {
  using Lane = typename kcheckLane<T>::type;
  const std::size_t lanes = count * sizeof(T) / sizeof(Lane);
  std::vector<T> staged(count);
  std::uint64_t seed = content == kcheckContent::mixed ? std::uint64_t(value) : 88172645463325252ull;
  Lane* lane = reinterpret_cast<Lane*>(staged.data());
  for (std::size_t i = 0; i < lanes; ++i)
    lane[i] = content == kcheckContent::value ? Lane(value) : kcheckElement<Lane>(i, content, seed);
  cudaMemcpy(array, staged.data(), count * sizeof(T), cudaMemcpyHostToDevice);
}
