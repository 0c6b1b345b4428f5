// Atomic sums of half precision and bfloat16, alone and in pairs.
#include "check.h"

__global__ void add(unsigned* words) {
  unsigned old;
  unsigned short before;
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(words), "r"(0x40003c00u) : "memory");            // 1, 2
  asm volatile("atom.global.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(old) : "l"(words + 1), "r"(0xbf804000u) : "memory"); // 2, -1
  asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;" : "=h"(before) : "l"(words + 2), "h"((unsigned short)0x3800) : "memory");
  asm volatile("red.relaxed.gpu.global.add.noftz.bf16 [%0], %1;" ::"l"((char*)(words + 3) + 2), "h"((unsigned short)0x3f80) : "memory");
}

int main() {
  Buffer<unsigned> words(4);
  add<<<2, 16>>>(words.data);
  cudaDeviceSynchronize();
  same("f16x2", 0, words[0], 0x54005000u);  // 32, 64
  same("bf16x2", 0, words[1], 0xc2004280u); // 64, -32
  same("f16", 0, words[2], 0x4c00u);        // 16
  same("bf16", 0, words[3], 0x42000000u);   // 32
  return finish();
}
