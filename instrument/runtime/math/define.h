// Shorthands for the tables of `__nv_*` functions: the names under which device code calls its math library.
// Instrumented code calls them directly; each takes and returns what clang's libdevice declarations say,
// except that 16-bit arguments are taken as 32 bits (the device ABI leaves their upper halves open).
#pragma once

#define KC_MATH1(type, name, expression)                                                                     \
  extern "C" type __nv_##name(type x) { return expression; }
#define KC_MATH2(type, name, expression)                                                                     \
  extern "C" type __nv_##name(type x, type y) { return expression; }
#define KC_MATH3(type, name, expression)                                                                     \
  extern "C" type __nv_##name(type x, type y, type z) { return expression; }
