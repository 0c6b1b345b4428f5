// cuRAND's generators. The pseudorandom ones are all the same counter-based generator with other keys: their
// numbers are as good as cuRAND's and hang on seed, type and offset alone, but they are not cuRAND's. The
// quasirandom ones are Sobol's sequences.
#pragma once

#include "instrument/runtime/api/cuda_abi.h"

#include <cstdint>

namespace kcheck::runtime::rand {

enum class Status : int {
  Success = 0,
  NotInitialized = 101,
  TypeError = 103,
  OutOfRange = 104,
  LengthNotMultiple = 105,
  LaunchFailure = 201,
  PreexistingFailure = 202,
};

/// curandRngType
enum class Type : int {
  PseudoDefault = 100,
  Xorwow = 101,
  Mrg32k3a = 121,
  Mtgp32 = 141,
  Mt19937 = 142,
  Philox = 161,
  QuasiDefault = 200,
  Sobol32 = 201,
  ScrambledSobol32 = 202,
  Sobol64 = 203,
  ScrambledSobol64 = 204,
};

struct Generator {
  Type type;
  bool onHost; ///< made by curandCreateGeneratorHost: its numbers go to host memory
  cuda::StreamHandle stream = nullptr;
  std::uint64_t seed = 0;
  std::uint64_t position = 0; ///< pseudo: in words of 32 bits; quasi: in points
  unsigned dimensions = 1;

  bool isQuasi() const { return type >= Type::QuasiDefault; }
  bool hasLongWords() const { return type == Type::Sobol64 || type == Type::ScrambledSobol64; }
  bool isScrambled() const { return type == Type::ScrambledSobol32 || type == Type::ScrambledSobol64; }
};

/// Null for what curandCreateGenerator did not make.
Generator* resolve(void* handle);

} // namespace kcheck::runtime::rand
