// min and max of two arithmetic types, as nvcc provides them: __KCHECK_MIN_MAX(qualifiers) defines one set. An int
// with an unsigned int gives an unsigned int, and so on, as the usual conversions have it.
#pragma once
#pragma GCC system_header

#define __KCHECK_MIN_MAX_OF(qualifiers, result, left, right)                                                           \
  qualifiers result min(const left a, const right b) { return (result)a < (result)b ? (result)a : (result)b; }         \
  qualifiers result max(const left a, const right b) { return (result)a > (result)b ? (result)a : (result)b; }
#define __KCHECK_MIN_MAX_FAMILY(qualifiers, number)                                                                    \
  __KCHECK_MIN_MAX_OF(qualifiers, unsigned number, unsigned number, unsigned number)                                   \
  __KCHECK_MIN_MAX_OF(qualifiers, unsigned number, number, unsigned number)                                            \
  __KCHECK_MIN_MAX_OF(qualifiers, unsigned number, unsigned number, number)
#define __KCHECK_MIN_MAX(qualifiers)                                                                                   \
  __KCHECK_MIN_MAX_FAMILY(qualifiers, int)                                                                             \
  __KCHECK_MIN_MAX_FAMILY(qualifiers, long)                                                                            \
  __KCHECK_MIN_MAX_FAMILY(qualifiers, long long)                                                                       \
  __KCHECK_MIN_MAX_OF(qualifiers, long, long, long)                                                                    \
  __KCHECK_MIN_MAX_OF(qualifiers, long long, long long, long long)
// Of floating point numbers, one that is no NaN wins.
#define __KCHECK_MIN_MAX_REAL(qualifiers, fmin32, fmax32, fmin64, fmax64)                                              \
  qualifiers float min(const float a, const float b) { return fmin32(a, b); }                                          \
  qualifiers float max(const float a, const float b) { return fmax32(a, b); }                                          \
  qualifiers double min(const double a, const double b) { return fmin64(a, b); }                                       \
  qualifiers double max(const double a, const double b) { return fmax64(a, b); }                                       \
  qualifiers double min(const float a, const double b) { return fmin64(a, b); }                                        \
  qualifiers double max(const float a, const double b) { return fmax64(a, b); }                                        \
  qualifiers double min(const double a, const float b) { return fmin64(a, b); }                                        \
  qualifiers double max(const double a, const float b) { return fmax64(a, b); }
