// cuRAND's device interface: XORWOW and a counter-based generator behind the names that programs use. The generators
// are good and deterministic; their numbers are not NVIDIA's.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"
#include "curand.h"

#define __KC_FN static __inline__ __device__

struct curandStateXORWOW {
  unsigned int d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
  unsigned long long key, counter;
  uint4 output;
  unsigned int left;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStatePhilox4_32_10 curandStateMRG32k3a;
typedef curandStatePhilox4_32_10 curandStateMRG32k3a_t;

/// One step of splitmix64: spreads a number over 64 bits.
__KC_FN unsigned long long __kcheck_spread(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__KC_FN unsigned int curand(curandStateXORWOW* s) {
  const unsigned int t = s->v[0] ^ (s->v[0] >> 2);
  s->v[0] = s->v[1];
  s->v[1] = s->v[2];
  s->v[2] = s->v[3];
  s->v[3] = s->v[4];
  s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
  s->d += 362437;
  return s->v[4] + s->d;
}
__KC_FN void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                         curandStateXORWOW* s) {
  unsigned long long x = __kcheck_spread(seed) ^ __kcheck_spread(~sequence);
  for (int i = 0; i < 5; ++i) s->v[i] = (unsigned int)(x = __kcheck_spread(x + i)) | 1;
  s->d = (unsigned int)__kcheck_spread(x);
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
  for (unsigned long long i = 0; i < offset; ++i) curand(s);
}

__KC_FN uint4 curand4(curandStatePhilox4_32_10* s) {
  const unsigned long long a = __kcheck_spread(s->key ^ __kcheck_spread(2 * s->counter));
  const unsigned long long b = __kcheck_spread(s->key ^ __kcheck_spread(2 * s->counter + 1));
  ++s->counter;
  return make_uint4((unsigned int)a, (unsigned int)(a >> 32), (unsigned int)b, (unsigned int)(b >> 32));
}
__KC_FN void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                         curandStatePhilox4_32_10* s) {
  s->key = __kcheck_spread(seed) ^ __kcheck_spread(~sequence);
  s->counter = offset / 4;
  s->output = make_uint4(0, 0, 0, 0);
  s->left = 0;
}
__KC_FN unsigned int curand(curandStatePhilox4_32_10* s) {
  if (s->left == 0) {
    s->output = curand4(s);
    s->left = 4;
  }
  const unsigned int at = 4 - s->left--;
  return at == 0 ? s->output.x : at == 1 ? s->output.y : at == 2 ? s->output.z : s->output.w;
}

__KC_FN float __kcheck_uniform(unsigned int x) { return x * 2.3283064e-10f + 1.1641532e-10f; }    // in (0, 1]
template <typename State> __KC_FN float curand_uniform(State* s) { return __kcheck_uniform(curand(s)); }
template <typename State> __KC_FN double curand_uniform_double(State* s) {
  const unsigned long long high = curand(s), x = high << 21 ^ curand(s) >> 11;
  return (double(x) + 1.0) * (1.0 / 9007199254740992.0);
}
template <typename State> __KC_FN float2 curand_normal2(State* s) {
  const float radius = sqrtf(-2.0f * logf(curand_uniform(s))), angle = 6.2831853f * curand_uniform(s);
  return make_float2(radius * sinf(angle), radius * cosf(angle));
}
template <typename State> __KC_FN float curand_normal(State* s) { return curand_normal2(s).x; }
template <typename State> __KC_FN double2 curand_normal2_double(State* s) {
  const double radius = sqrt(-2.0 * log(curand_uniform_double(s)));
  const double angle = 6.2831853071795865 * curand_uniform_double(s);
  return make_double2(radius * sin(angle), radius * cos(angle));
}
template <typename State> __KC_FN double curand_normal_double(State* s) { return curand_normal2_double(s).x; }
template <typename State> __KC_FN float curand_log_normal(State* s, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(s));
}
__KC_FN float4 curand_uniform4(curandStatePhilox4_32_10* s) {
  const uint4 x = curand4(s);
  return make_float4(__kcheck_uniform(x.x), __kcheck_uniform(x.y), __kcheck_uniform(x.z), __kcheck_uniform(x.w));
}
__KC_FN float4 curand_normal4(curandStatePhilox4_32_10* s) {
  const float2 a = curand_normal2(s), b = curand_normal2(s);
  return make_float4(a.x, a.y, b.x, b.y);
}
template <typename State> __KC_FN unsigned int curand_poisson(State* s, double lambda) {
  const double limit = exp(-lambda);
  double product = 1;
  unsigned int count = 0;
  while ((product *= curand_uniform_double(s)) > limit) ++count;
  return count;
}
template <typename State> __KC_FN void skipahead(unsigned long long n, State* s) {
  for (unsigned long long i = 0; i < n; ++i) curand(s);
}
#undef __KC_FN
