// cuFFT's functions: plans, their sizes and settings, and their execution.
#include "instrument/runtime/fft/execute.h"
#include "instrument/runtime/library/call.h"

#include <map>
#include <mutex>
#include <optional>

namespace kcheck::runtime::fft {
namespace {

struct Plans {
  std::mutex guard;
  std::map<int, Plan> all;
  int last = 0;
};
Plans& plans() {
  static auto* const table = new Plans; // programs may use it until the very end
  return *table;
}

std::optional<Plan> find(int handle) {
  std::lock_guard lock(plans().guard);
  auto found = plans().all.find(handle);
  return found == plans().all.end() ? std::nullopt : std::optional(found->second);
}

template <class Change> Status with(int handle, Change change) {
  std::lock_guard lock(plans().guard);
  auto found = plans().all.find(handle);
  return found == plans().all.end() ? Status::InvalidPlan : change(found->second);
}

Status create(int* handle) {
  if (!handle) return Status::InvalidValue;
  std::lock_guard lock(plans().guard);
  *handle = ++plans().last;
  plans().all[*handle];
  return Status::Success;
}

bool isKnown(Type type) {
  switch (type) {
  case Type::R2C:
  case Type::C2R:
  case Type::C2C:
  case Type::D2Z:
  case Type::Z2D:
  case Type::Z2Z: return true;
  }
  return false;
}

/// What a program asks for; `Number` is int, or long long in the functions whose names end in 64.
template <class Number> struct Asked {
  int rank;
  const Number* size;
  Type type;
  Number batch = 1;
  const Number *inEmbed = nullptr, *outEmbed = nullptr;
  Number inStride = 1, inDistance = 0, outStride = 1, outDistance = 0;
};

constexpr long long kMost = 1LL << 40; ///< elements: more fit no device

template <class Number> Status describe(const Asked<Number>& asked, Plan& plan) {
  if (!isKnown(asked.type)) return Status::InvalidType;
  if (asked.rank < 1 || asked.rank > 3 || !asked.size || asked.batch < 1) return Status::InvalidSize;
  plan.isAdvanced = asked.inEmbed && asked.outEmbed;
  plan.type = asked.type;
  plan.size = plan.inEmbed = plan.outEmbed = {1, 1, 1};
  long long all = asked.batch;
  for (int i = 0; i < asked.rank; ++i) {
    const std::size_t at = 3 + static_cast<std::size_t>(i) - static_cast<std::size_t>(asked.rank);
    const long long size = asked.size[i];
    if (size < 1 || size > kMost / all) return Status::InvalidSize;
    all *= size;
    plan.size[at] = static_cast<std::size_t>(size);
    if (!plan.isAdvanced) continue;
    if (asked.inEmbed[i] < 1 || asked.outEmbed[i] < 1) return Status::InvalidSize;
    plan.inEmbed[at] = static_cast<std::size_t>(asked.inEmbed[i]);
    plan.outEmbed[at] = static_cast<std::size_t>(asked.outEmbed[i]);
  }
  plan.batch = static_cast<std::size_t>(asked.batch);
  if (!plan.isAdvanced) return Status::Success;
  if (asked.inStride < 1 || asked.outStride < 1 || asked.inDistance < 0 || asked.outDistance < 0)
    return Status::InvalidValue;
  plan.inStride = static_cast<std::size_t>(asked.inStride);
  plan.inDistance = static_cast<std::size_t>(asked.inDistance);
  plan.outStride = static_cast<std::size_t>(asked.outStride);
  plan.outDistance = static_cast<std::size_t>(asked.outDistance);
  return Status::Success;
}

template <class Number> Status make(int handle, const Asked<Number>& asked, std::size_t* workBytes) {
  return with(handle, [&](Plan& plan) {
    if (plan.made) return Status::InvalidPlan;
    Status status = describe(asked, plan);
    plan.made = status == Status::Success;
    if (plan.made && workBytes) *workBytes = plan.workBytes();
    return status;
  });
}

template <class Number> Status createAndMake(int* handle, const Asked<Number>& asked) {
  Plan plan;
  if (Status status = describe(asked, plan); status != Status::Success) return status;
  Status status = create(handle);
  return status == Status::Success ? make(*handle, asked, nullptr) : status;
}

template <class Number> Status estimate(const Asked<Number>& asked, std::size_t* workBytes) {
  Plan plan;
  Status status = describe(asked, plan);
  if (status == Status::Success && !workBytes) return Status::InvalidValue;
  if (status == Status::Success) *workBytes = plan.workBytes();
  return status;
}

void add(library::Call& call, const Layout& layout, const Plan& plan, const void* base, library::Use use) {
  const std::size_t element = layout.element() * (isDouble(plan.type) ? 2 : 1);
  std::vector<library::Call::Step> steps{{layout.distance * element, plan.batch}};
  for (std::size_t i = 0; i < 3; ++i)
    if (layout.extent[i] > 1) steps.push_back({layout.step[i] * element, layout.extent[i]});
  call.array(base, element, std::move(steps), use);
}

Status run(int handle, Type type, const void* in, void* out, int direction, const char* function,
           void* caller) {
  constexpr int forward = -1, inverse = 1;
  const std::optional<Plan> plan = find(handle);
  if (!plan || !plan->made) return Status::InvalidPlan;
  if (plan->type != type) return Status::InvalidType;
  if (!in || !out || (direction != forward && direction != inverse)) return Status::InvalidValue;
  if (!plan->allocates && !plan->workArea) return Status::NoWorkspace;
  library::Call call(function, caller);
  add(call, plan->input(in == out), *plan, in, library::Use::Read);
  add(call, plan->output(in == out), *plan, out, library::Use::Write);
  if (plan->workArea) call.array(plan->workArea, plan->workBytes(), {}, library::Use::Write);
  switch (call.run(plan->stream, [=] { execute(*plan, in, out, direction == inverse); })) {
  case library::Outcome::Done: return Status::Success;
  case library::Outcome::BadStream: return Status::InvalidValue;
  case library::Outcome::BadMemory:
  case library::Outcome::DeviceLost: break;
  }
  return Status::ExecutionFailed;
}

} // namespace
} // namespace kcheck::runtime::fft

using namespace kcheck::runtime::fft;

extern "C" {

Status cufftCreate(int* plan) { return create(plan); }

Status cufftDestroy(int plan) {
  std::lock_guard lock(plans().guard);
  return plans().all.erase(plan) ? Status::Success : Status::InvalidPlan;
}

// The same sizes for plans of their own, for plans that exist, and for those that may come to be.
#define KC_SIZES(Shape, parameters, ...)                                                                     \
  Status cufftPlan##Shape(int* plan, parameters) { return createAndMake<int>(plan, __VA_ARGS__); }           \
  Status cufftMakePlan##Shape(int plan, parameters, std::size_t* bytes) {                                    \
    return make<int>(plan, __VA_ARGS__, bytes);                                                              \
  }                                                                                                          \
  Status cufftEstimate##Shape(parameters, std::size_t* bytes) { return estimate<int>(__VA_ARGS__, bytes); }  \
  Status cufftGetSize##Shape(int plan, parameters, std::size_t* bytes) {                                     \
    return find(plan) ? estimate<int>(__VA_ARGS__, bytes) : Status::InvalidPlan;                             \
  }
#define KC_LIST(...) __VA_ARGS__
KC_SIZES(1d, KC_LIST(int x, Type type, int batch), {1, &x, type, batch})
KC_SIZES(2d, KC_LIST(int x, int y, Type type), {2, std::array{x, y}.data(), type})
KC_SIZES(3d, KC_LIST(int x, int y, int z, Type type), {3, std::array{x, y, z}.data(), type})
KC_SIZES(Many,
         KC_LIST(int rank, int* size, int* inEmbed, int inStride, int inDistance, int* outEmbed,
                 int outStride, int outDistance, Type type, int batch),
         {rank, size, type, batch, inEmbed, outEmbed, inStride, inDistance, outStride, outDistance})

Status cufftMakePlanMany64(int plan, int rank, long long* size, long long* inEmbed, long long inStride,
                           long long inDistance, long long* outEmbed, long long outStride,
                           long long outDistance, Type type, long long batch, std::size_t* bytes) {
  return make<long long>(
      plan, {rank, size, type, batch, inEmbed, outEmbed, inStride, inDistance, outStride, outDistance},
      bytes);
}
Status cufftGetSizeMany64(int plan, int rank, long long* size, long long* inEmbed, long long inStride,
                          long long inDistance, long long* outEmbed, long long outStride,
                          long long outDistance, Type type, long long batch, std::size_t* bytes) {
  if (!find(plan)) return Status::InvalidPlan;
  return estimate<long long>(
      {rank, size, type, batch, inEmbed, outEmbed, inStride, inDistance, outStride, outDistance}, bytes);
}

Status cufftGetSize(int handle, std::size_t* bytes) {
  const std::optional<Plan> plan = find(handle);
  if (!plan || !plan->made) return Status::InvalidPlan;
  if (!bytes) return Status::InvalidValue;
  *bytes = plan->workBytes();
  return Status::Success;
}

Status cufftSetWorkArea(int plan, void* area) {
  return with(plan, [&](Plan& known) {
    known.workArea = area;
    return Status::Success;
  });
}
Status cufftSetAutoAllocation(int plan, int allocates) {
  return with(plan, [&](Plan& known) {
    if (known.made) return Status::InvalidValue;
    known.allocates = allocates != 0;
    return Status::Success;
  });
}
Status cufftSetStream(int plan, kcheck::cuda::StreamHandle stream) {
  return with(plan, [&](Plan& known) {
    known.stream = stream;
    return Status::Success;
  });
}

Status cufftGetVersion(int* version) {
  if (!version) return Status::InvalidValue;
  *version = 12000;
  return Status::Success;
}
Status cufftGetProperty(int property, int* value) {
  constexpr int parts[] = {12, 0, 0};
  if (property < 0 || property > 2 || !value) return Status::InvalidValue;
  *value = parts[property];
  return Status::Success;
}

#define KC_EXECUTE(Name, direction)                                                                          \
  run(plan, Type::Name, in, out, direction, "cufftExec" #Name, __builtin_return_address(0))
Status cufftExecC2C(int plan, void* in, void* out, int direction) { return KC_EXECUTE(C2C, direction); }
Status cufftExecZ2Z(int plan, void* in, void* out, int direction) { return KC_EXECUTE(Z2Z, direction); }
Status cufftExecR2C(int plan, void* in, void* out) { return KC_EXECUTE(R2C, -1); }
Status cufftExecD2Z(int plan, void* in, void* out) { return KC_EXECUTE(D2Z, -1); }
Status cufftExecC2R(int plan, void* in, void* out) { return KC_EXECUTE(C2R, 1); }
Status cufftExecZ2D(int plan, void* in, void* out) { return KC_EXECUTE(Z2D, 1); }

} // extern "C"
