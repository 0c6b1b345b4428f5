// What the programs here share: a check that names its line, and PASS at the end.
#pragma once
#include <cstdio>
#include <cstdlib>
#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      std::printf("FAIL line %d: %s\n", __LINE__, #condition);                                               \
      std::exit(1);                                                                                          \
    }                                                                                                        \
  } while (0)
#define OK(call) CHECK((call) == cudaSuccess)
