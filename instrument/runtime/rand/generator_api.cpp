// cuRAND's generators and their settings, and the tables that its device functions take.
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/library/handles.h"
#include "instrument/runtime/rand/generator.h"
#include "instrument/runtime/rand/sobol.h"

namespace kcheck::runtime::rand {
namespace {

library::Handles<Generator>& generators() {
  static auto* const table = new library::Handles<Generator>; // programs may use it until the very end
  return *table;
}

bool isKnown(Type type) {
  switch (type) {
  case Type::PseudoDefault:
  case Type::Xorwow:
  case Type::Mrg32k3a:
  case Type::Mtgp32:
  case Type::Mt19937:
  case Type::Philox:
  case Type::QuasiDefault:
  case Type::Sobol32:
  case Type::ScrambledSobol32:
  case Type::Sobol64:
  case Type::ScrambledSobol64: return true;
  }
  return false;
}

Status create(void** generator, Type type, bool onHost) {
  if (!generator) return Status::NotInitialized;
  if (!isKnown(type)) return Status::TypeError;
  if (type == Type::PseudoDefault) type = Type::Xorwow;
  if (type == Type::QuasiDefault) type = Type::Sobol32;
  *generator = generators().add(std::make_unique<Generator>(Generator{type, onHost}));
  return Status::Success;
}

template <class Change> Status with(void* generator, Change change) {
  Generator* known = resolve(generator);
  return known ? change(*known) : Status::NotInitialized;
}

/// curandDirectionVectorSet: 32 and 64 bits, plain and scrambled.
enum class VectorSet : int { Plain32 = 101, Scrambled32 = 102, Plain64 = 103, Scrambled64 = 104 };

Directions vectorsOf(unsigned dimension, bool scrambled) {
  return scrambled ? scrambledDirections(dimension) : directions(dimension);
}

using Vectors32 = std::uint32_t[32];
using Vectors64 = std::uint64_t[64];

Vectors32* table32(bool scrambled) {
  auto* all = new Vectors32[kMostDimensions];
  for (unsigned d = 0; d < kMostDimensions; ++d) {
    const Directions vectors = vectorsOf(d, scrambled);
    for (unsigned i = 0; i < 32; ++i) all[d][i] = static_cast<std::uint32_t>(vectors[i] >> 32);
  }
  return all;
}

Vectors64* table64(bool scrambled) {
  auto* all = new Vectors64[kMostDimensions];
  for (unsigned d = 0; d < kMostDimensions; ++d) {
    const Directions vectors = vectorsOf(d, scrambled);
    for (unsigned i = 0; i < 64; ++i) all[d][i] = vectors[i];
  }
  return all;
}

template <class Word> Word* scrambleConstants() {
  auto* all = new Word[kMostDimensions];
  for (unsigned d = 0; d < kMostDimensions; ++d)
    all[d] = static_cast<Word>(scrambleConstant(d) >> (64 - 8 * sizeof(Word)));
  return all;
}

} // namespace

Generator* resolve(void* handle) { return generators().find(handle); }

} // namespace kcheck::runtime::rand

using namespace kcheck::runtime;
using namespace kcheck::runtime::rand;

extern "C" {

Status curandCreateGenerator(void** generator, Type type) { return create(generator, type, false); }
Status curandCreateGeneratorHost(void** generator, Type type) { return create(generator, type, true); }

Status curandDestroyGenerator(void* generator) {
  return generators().remove(generator) ? Status::Success : Status::NotInitialized;
}

Status curandGetVersion(int* version) {
  if (!version) return Status::OutOfRange;
  *version = 10400;
  return Status::Success;
}

Status curandGetProperty(int property, int* value) {
  constexpr int parts[] = {10, 4, 0};
  if (property < 0 || property > 2 || !value) return Status::OutOfRange;
  *value = parts[property];
  return Status::Success;
}

Status curandSetStream(void* generator, kcheck::cuda::StreamHandle stream) {
  return with(generator, [&](Generator& known) {
    known.stream = stream;
    return Status::Success;
  });
}

Status curandSetPseudoRandomGeneratorSeed(void* generator, unsigned long long seed) {
  return with(generator, [&](Generator& known) {
    if (known.isQuasi()) return Status::TypeError;
    known.seed = seed;
    known.position = 0;
    return Status::Success;
  });
}

Status curandSetGeneratorOffset(void* generator, unsigned long long offset) {
  return with(generator, [&](Generator& known) {
    known.position = offset;
    return Status::Success;
  });
}

/// The order is the same for all.
Status curandSetGeneratorOrdering(void* generator, int ordering) {
  constexpr int best = 100, dynamic = 104, quasi = 201;
  return with(generator, [&](Generator& known) {
    bool fits = known.isQuasi() ? ordering == quasi : ordering >= best && ordering <= dynamic;
    return fits ? Status::Success : Status::OutOfRange;
  });
}

Status curandSetQuasiRandomGeneratorDimensions(void* generator, unsigned dimensions) {
  return with(generator, [&](Generator& known) {
    if (!known.isQuasi()) return Status::TypeError;
    if (dimensions == 0 || dimensions > kMostDimensions) return Status::OutOfRange;
    known.dimensions = dimensions;
    return Status::Success;
  });
}

Status curandGenerateSeeds(void* generator) {
  return with(generator, [](Generator&) { return Status::Success; });
}

Status curandGetDirectionVectors32(Vectors32** vectors, VectorSet set) {
  if (set != VectorSet::Plain32 && set != VectorSet::Scrambled32) return Status::OutOfRange;
  static auto* const plain = table32(false);
  static auto* const scrambled = table32(true);
  *vectors = set == VectorSet::Plain32 ? plain : scrambled;
  return Status::Success;
}

Status curandGetDirectionVectors64(Vectors64** vectors, VectorSet set) {
  if (set != VectorSet::Plain64 && set != VectorSet::Scrambled64) return Status::OutOfRange;
  static auto* const plain = table64(false);
  static auto* const scrambled = table64(true);
  *vectors = set == VectorSet::Plain64 ? plain : scrambled;
  return Status::Success;
}

Status curandGetScrambleConstants32(std::uint32_t** constants) {
  static auto* const made = scrambleConstants<std::uint32_t>();
  *constants = made;
  return Status::Success;
}

Status curandGetScrambleConstants64(std::uint64_t** constants) {
  static auto* const made = scrambleConstants<std::uint64_t>();
  *constants = made;
  return Status::Success;
}

} // extern "C"
