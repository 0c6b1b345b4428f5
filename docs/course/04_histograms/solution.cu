// How often does each small letter occur? Everything else in the text is skipped, or should be.
#include <cstdio>
#include <cstring>

// expect-proved: race-free, barriers-uniform
__global__ void countLetters(int* counts, const char* text, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  char letter = text[i];
  if (letter >= 'a' && letter <= 'z') atomicAdd(&counts[letter - 'a'], 1);
}

int main() {
  const char* text = "the threads of a block run in warps of 32, and nothing but a barrier orders one warp "
                     "against another; blocks run in any order and at the same time";
  const int n = int(strlen(text));
  char* dtext;
  int *dcounts, counts[26];
  cudaMalloc(&dtext, n);
  cudaMalloc(&dcounts, sizeof counts);
  cudaMemcpy(dtext, text, n, cudaMemcpyHostToDevice);
  cudaMemset(dcounts, 0, sizeof counts);
  countLetters<<<(n + 63) / 64, 64>>>(dcounts, dtext, n);
  cudaMemcpy(counts, dcounts, sizeof counts, cudaMemcpyDeviceToHost);
  cudaFree(dtext);
  cudaFree(dcounts);
  printf("e occurs %d times\n", counts['e' - 'a']);
}
