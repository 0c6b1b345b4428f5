// cuFFT's plans: which transforms, of what, laid out how.
#pragma once

#include "instrument/runtime/api/cuda_abi.h"

#include <array>
#include <cstddef>

namespace kcheck::runtime::fft {

enum class Status : int {
  Success = 0,
  InvalidPlan = 1,
  InvalidType = 3,
  InvalidValue = 4,
  InternalError = 5,
  ExecutionFailed = 6,
  InvalidSize = 8,
  NoWorkspace = 13,
};

/// cufftType
enum class Type : int { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };

inline bool isReal(Type type) { return type != Type::C2C && type != Type::Z2Z; }
inline bool isToReal(Type type) { return type == Type::C2R || type == Type::Z2D; }
inline bool isDouble(Type type) { return static_cast<int>(type) >= 0x60; }

/// Where the elements of one side are, in elements: the innermost dimension last.
struct Layout {
  bool real = false;
  std::array<std::size_t, 3> extent{1, 1, 1}, step{0, 0, 0};
  std::size_t distance = 0; ///< between transforms
  /// In bytes, of single precision.
  std::size_t element() const { return real ? 4 : 8; }
};

struct Plan {
  bool made = false;
  Type type = Type::C2C;
  std::array<std::size_t, 3> size{1, 1, 1};
  std::size_t batch = 1;
  /// Null: as the sizes alone say, with room for the complex numbers where a real transform is in place.
  bool isAdvanced = false;
  std::array<std::size_t, 3> inEmbed{}, outEmbed{};
  std::size_t inStride = 1, inDistance = 0, outStride = 1, outDistance = 0;

  cuda::StreamHandle stream = nullptr;
  bool allocates = true; ///< itself what it needs; else the program hands it in
  void* workArea = nullptr;

  std::size_t workBytes() const;
  Layout input(bool inPlace) const;
  Layout output(bool inPlace) const;

private:
  Layout layout(bool isInput, bool inPlace) const;
};

} // namespace kcheck::runtime::fft
