// What every program here uses: results are compared with the same arithmetic on the host; a difference is
// told and makes the exit status 1.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>

inline int failures = 0;

template <typename A, typename B> void same(const char* what, int index, A got, B expected) {
  if (got == A(expected)) return;
  if (failures++ < 10)
    printf("%s[%d]: got %.17g, expected %.17g\n", what, index, double(got), double(expected));
}

template <typename T> struct Buffer {
  T* data = nullptr;
  int count;
  explicit Buffer(int count) : count(count) {
    if (cudaMallocManaged(&data, count * sizeof(T)) != cudaSuccess) exit(7);
    for (int i = 0; i < count; ++i) data[i] = T();
  }
  ~Buffer() { cudaFree(data); }
  T& operator[](int i) { return data[i]; }
};

inline int finish() {
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    printf("error: %s\n", cudaGetErrorString(error));
    return 2;
  }
  return failures ? 1 : 0;
}
