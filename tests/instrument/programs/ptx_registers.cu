// Special registers, and movmatrix, which turns a matrix that lies in a warp's registers.
#include "check.h"

__global__ void registers(unsigned* out) {
  __shared__ char own[100];
  own[threadIdx.x] = 1;
  unsigned* o = out + 16 * threadIdx.x;
  int n = 0;
  unsigned r;
#define READ(name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(r)); o[n++] = r
  READ("total_smem_size");
  READ("dynamic_smem_size");
  READ("aggr_smem_size");
  READ("lanemask_eq");
  READ("lanemask_lt");
  READ("lanemask_le");
  READ("lanemask_gt");
  READ("lanemask_ge");
  READ("warpid");
  READ("nwarpid");
  READ("pm0");
  unsigned s, m;
  asm volatile("mov.u32 %0, %%smid; mov.u32 %1, %%nsmid;" : "=r"(s), "=r"(m));
  o[n++] = s < m;
  unsigned long long g;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(g));
  unsigned a, b, c, d;
  asm volatile("mov.u32 %0, %%clock; mov.u32 %1, %%clock_hi; mov.u32 %2, %%globaltimer_lo; mov.u32 %3, %%globaltimer_hi;"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d));
  unsigned long long t = (unsigned long long)d << 32 | c, u;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(u));
  o[n++] = u >= t;
}

__global__ void turn(const unsigned* in, unsigned* out) {
  unsigned r;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(in[threadIdx.x]));
  out[threadIdx.x] = r;
}

int main() {
  Buffer<unsigned> out(16 * 64);
  registers<<<1, 64, 300>>>(out.data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) {
    const unsigned lane = i % 32, bit = 1u << lane;
    const unsigned expected[] = {512, 300, 1536, bit, bit - 1, bit | (bit - 1), ~(bit | (bit - 1)), ~(bit - 1), i / 32u, 2, 0, 1, 1};
    for (int n = 0; n < 13; ++n) same("register", 16 * i + n, out[16 * i + n], expected[n]);
  }
  Buffer<unsigned> in(32), turned(32);
  unsigned short matrix[8][8];
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) {
      matrix[row][column] = (unsigned short)(1000 * row + 7 * column + 3);
      in[4 * row + column / 2] |= unsigned(matrix[row][column]) << 16 * (column % 2);
    }
  turn<<<1, 32>>>(in.data, turned.data);
  cudaDeviceSynchronize();
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column)
      same("movmatrix", 8 * row + column, turned[4 * row + column / 2] >> 16 * (column % 2) & 0xffff, unsigned(matrix[column][row]));
  return finish();
}
