// One thread sorts an array in place by bubble sort. Serial on purpose, and right: with one thread there is
// nobody to race with.
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 256;

__global__ void bubbleSort(float* a, int n) {
  for (int end = n - 1; end > 0; --end) {
    for (int j = 0; j < end; ++j) {
      if (a[j] > a[j + 1]) {
        float larger = a[j];
        a[j] = a[j + 1];
        a[j + 1] = larger;
      }
    }
  }
}

int main() {
  std::vector<float> a(kN);
  unsigned state = 1;
  for (float& value : a) {
    state = state * 1664525u + 1013904223u;
    value = float(state >> 8) / (1u << 24);
  }
  std::vector<float> expected = a;
  std::sort(expected.begin(), expected.end());

  float* da;
  cudaMalloc(&da, kN * sizeof(float));
  cudaMemcpy(da, a.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  bubbleSort<<<1, 1>>>(da, kN); // expect: launch-shape
  cudaMemcpy(a.data(), da, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(da);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += a[i] != expected[i];
  printf("bubblesort: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
