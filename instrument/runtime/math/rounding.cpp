// Arithmetic in the four rounding directions (_rn to nearest, _rz towards zero, _ru up, _rd down), by setting
// the processor's rounding mode around one operation.
#include <cfenv>
#include <cmath>

namespace {

/// Sets the rounding mode for its lifetime.
class Rounding {
public:
  explicit Rounding(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~Rounding() { std::fesetround(before_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

private:
  int before_;
};

/// A value that the compiler must have computed here, and may not compute elsewhere.
template <class Value> Value pinned(Value value) {
  asm volatile("" : "+x"(value));
  return value;
}

template <class Value, class Operation>
Value rounded(int mode, Value x, Value y, Value z, Operation operation) {
  Rounding rounding(mode);
  return pinned(operation(pinned(x), pinned(y), pinned(z)));
}

template <class Value> Value add(Value x, Value y, Value) { return x + y; }
template <class Value> Value subtract(Value x, Value y, Value) { return x - y; }
template <class Value> Value multiply(Value x, Value y, Value) { return x * y; }
template <class Value> Value divide(Value x, Value y, Value) { return x / y; }
template <class Value> Value invert(Value x, Value, Value) { return 1 / x; }
template <class Value> Value root(Value x, Value, Value) { return std::sqrt(x); }
template <class Value> Value fused(Value x, Value y, Value z) { return std::fma(x, y, z); }

} // namespace

#define KC_DIRECTIONS(KC_ONE)                                                                                \
  KC_ONE(rn, FE_TONEAREST) KC_ONE(rz, FE_TOWARDZERO) KC_ONE(ru, FE_UPWARD) KC_ONE(rd, FE_DOWNWARD)

#define KC_ONE(suffix, mode)                                                                                 \
  extern "C" double __nv_dadd_##suffix(double x, double y) { return rounded(mode, x, y, 0.0, add<double>); } \
  extern "C" double __nv_dsub_##suffix(double x, double y) {                                                 \
    return rounded(mode, x, y, 0.0, subtract<double>);                                                       \
  }                                                                                                          \
  extern "C" double __nv_dmul_##suffix(double x, double y) {                                                 \
    return rounded(mode, x, y, 0.0, multiply<double>);                                                       \
  }                                                                                                          \
  extern "C" double __nv_ddiv_##suffix(double x, double y) {                                                 \
    return rounded(mode, x, y, 0.0, divide<double>);                                                         \
  }                                                                                                          \
  extern "C" double __nv_drcp_##suffix(double x) { return rounded(mode, x, 0.0, 0.0, invert<double>); }      \
  extern "C" double __nv_dsqrt_##suffix(double x) { return rounded(mode, x, 0.0, 0.0, root<double>); }       \
  extern "C" double __nv_fma_##suffix(double x, double y, double z) {                                        \
    return rounded(mode, x, y, z, fused<double>);                                                            \
  }                                                                                                          \
  extern "C" float __nv_fadd_##suffix(float x, float y) { return rounded(mode, x, y, 0.0f, add<float>); }    \
  extern "C" float __nv_fsub_##suffix(float x, float y) {                                                    \
    return rounded(mode, x, y, 0.0f, subtract<float>);                                                       \
  }                                                                                                          \
  extern "C" float __nv_fmul_##suffix(float x, float y) {                                                    \
    return rounded(mode, x, y, 0.0f, multiply<float>);                                                       \
  }                                                                                                          \
  extern "C" float __nv_fdiv_##suffix(float x, float y) { return rounded(mode, x, y, 0.0f, divide<float>); } \
  extern "C" float __nv_frcp_##suffix(float x) { return rounded(mode, x, 0.0f, 0.0f, invert<float>); }       \
  extern "C" float __nv_fsqrt_##suffix(float x) { return rounded(mode, x, 0.0f, 0.0f, root<float>); }        \
  extern "C" float __nv_fmaf_##suffix(float x, float y, float z) {                                           \
    return rounded(mode, x, y, z, fused<float>);                                                             \
  }                                                                                                          \
  extern "C" float __nv_fmaf_ieee_##suffix(float x, float y, float z) {                                      \
    return rounded(mode, x, y, z, fused<float>);                                                             \
  }
KC_DIRECTIONS(KC_ONE)
#undef KC_ONE

extern "C" float __nv_frsqrt_rn(float x) { return float(1 / std::sqrt((long double)(x))); }
