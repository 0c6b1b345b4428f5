// cuRAND's Generate functions: each writes numbers into memory of the device, or of the host where the
// generator is one of the host's.
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/library/call.h"
#include "instrument/runtime/rand/numbers.h"

#include <cstring>
#include <memory>

namespace kcheck::runtime::rand {
namespace {

/// What a call is: the function's name, where it is called, and whether its numbers come in pairs.
struct Request {
  const char* function;
  void* caller;
  bool inPairs = false;
};

template <class T, class Take> void fill(Generator& generator, T* out, std::size_t count, const Take& take) {
  if (!generator.isQuasi()) {
    Pseudo numbers(generator, generator.position);
    for (std::size_t i = 0; i < count; ++i) out[i] = take(numbers);
    generator.position = numbers.position();
    return;
  }
  // All points of the first dimension, then those of the second, ...
  const std::size_t points = count / generator.dimensions;
  for (unsigned dimension = 0; dimension < generator.dimensions; ++dimension) {
    Quasi numbers(generator, dimension, generator.position);
    for (std::size_t i = 0; i < points; ++i) *out++ = take(numbers);
  }
  generator.position += points;
}

template <class T, class Take>
Status toHost(Generator& generator, const Request& request, T* out, std::size_t count, const Take& take) {
  if (api::whereIs(out) == api::Where::Device) {
    api::reportWrongSpace(out, request.function, "a generator of the host's wants host memory here",
                          request.caller);
    return Status::LaunchFailure;
  }
  std::vector<T> numbers(count);
  fill(generator, numbers.data(), count, take);
  std::memcpy(out, numbers.data(), count * sizeof(T));
  return Status::Success;
}

template <class T, class Take>
Status generate(void* handle, const Request& request, T* out, std::size_t count, const Take& take) {
  Generator* generator = resolve(handle);
  if (!generator) return Status::NotInitialized;
  if (generator->isQuasi() ? count % generator->dimensions != 0 : request.inPairs && count % 2 != 0)
    return Status::LengthNotMultiple;
  if (count == 0) return Status::Success;
  if (generator->onHost) return toHost(*generator, request, out, count, take);
  library::Call call(request.function, request.caller);
  call.array(out, count * sizeof(T), {}, library::Use::Write);
  // A graph may do it again, with the numbers that come next, and when the generator is gone.
  auto work = [=] {
    if (Generator* now = resolve(handle)) fill(*now, out, count, take);
  };
  switch (call.run(generator->stream, work)) {
  case library::Outcome::Done: return Status::Success;
  case library::Outcome::DeviceLost: return Status::PreexistingFailure;
  case library::Outcome::BadMemory:
  case library::Outcome::BadStream: break;
  }
  return Status::LaunchFailure;
}

bool isOf(void* handle, bool (*property)(const Generator&)) {
  const Generator* generator = resolve(handle);
  return generator && property(*generator);
}

Status discrete(void* handle, const Request& request, unsigned* out, std::size_t count,
                Discrete distribution) {
  auto shared = std::make_shared<const Discrete>(std::move(distribution));
  return generate(handle, request, out, count,
                  [shared](auto& numbers) { return shared->quantile(numbers.uniformDouble()); });
}

} // namespace
} // namespace kcheck::runtime::rand

using namespace kcheck::runtime;
using namespace kcheck::runtime::rand;

#define KC_REQUEST {__func__, __builtin_return_address(0)}
#define KC_IN_PAIRS {__func__, __builtin_return_address(0), true}

extern "C" {

Status curandGenerate(void* generator, unsigned* out, std::size_t count) {
  if (isOf(generator, [](const Generator& g) { return g.hasLongWords(); })) return Status::TypeError;
  return generate(generator, KC_REQUEST, out, count, [](auto& numbers) { return numbers.word(); });
}

Status curandGenerateLongLong(void* generator, unsigned long long* out, std::size_t count) {
  if (isOf(generator, [](const Generator& g) { return !g.hasLongWords(); })) return Status::TypeError;
  return generate(generator, KC_REQUEST, out, count, [](auto& numbers) { return numbers.longWord(); });
}

Status curandGenerateUniform(void* generator, float* out, std::size_t count) {
  return generate(generator, KC_REQUEST, out, count, [](auto& numbers) { return numbers.uniform(); });
}

Status curandGenerateUniformDouble(void* generator, double* out, std::size_t count) {
  return generate(generator, KC_REQUEST, out, count, [](auto& numbers) { return numbers.uniformDouble(); });
}

Status curandGenerateNormal(void* generator, float* out, std::size_t count, float mean, float deviation) {
  return generate(generator, KC_IN_PAIRS, out, count,
                  [=](auto& numbers) { return mean + deviation * numbers.normal(); });
}

Status curandGenerateNormalDouble(void* generator, double* out, std::size_t count, double mean,
                                  double deviation) {
  return generate(generator, KC_IN_PAIRS, out, count,
                  [=](auto& numbers) { return mean + deviation * numbers.normalDouble(); });
}

Status curandGenerateLogNormal(void* generator, float* out, std::size_t count, float mean, float deviation) {
  return generate(generator, KC_IN_PAIRS, out, count,
                  [=](auto& numbers) { return std::exp(mean + deviation * numbers.normal()); });
}

Status curandGenerateLogNormalDouble(void* generator, double* out, std::size_t count, double mean,
                                     double deviation) {
  return generate(generator, KC_IN_PAIRS, out, count,
                  [=](auto& numbers) { return std::exp(mean + deviation * numbers.normalDouble()); });
}

Status curandGeneratePoisson(void* generator, unsigned* out, std::size_t count, double lambda) {
  constexpr double most = 400000;
  if (!(lambda > 0 && lambda <= most)) return Status::OutOfRange;
  return discrete(generator, KC_REQUEST, out, count, Discrete::poisson(lambda));
}

Status curandGenerateBinomial(void* generator, unsigned* out, std::size_t count, unsigned trials,
                              double probability) {
  if (!(probability >= 0 && probability <= 1)) return Status::OutOfRange;
  return discrete(generator, KC_REQUEST, out, count, Discrete::binomial(trials, probability));
}

/// Its table is laid out for cuRAND's own device functions.
Status curandCreatePoissonDistribution(double /*lambda*/, void** /*distribution*/) {
  api::reportUnsupported("curandCreatePoissonDistribution", __builtin_return_address(0));
  return Status::OutOfRange;
}
Status curandDestroyDistribution(void* /*distribution*/) { return Status::NotInitialized; }

} // extern "C"
