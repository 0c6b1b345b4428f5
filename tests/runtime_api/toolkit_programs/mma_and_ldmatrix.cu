// ldmatrix and mma.sync as PTX lays out their fragments, against the same sums on the host.
#include <cstdio>
#include <cuda_fp16.h>

__device__ unsigned sharedAddress(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

/// One 16x8 tile of D = A * B + C: A row by row through ldmatrix, B column by column from its rows by .trans.
__global__ void tile(const half* a, const half* b, float* d) {
  __shared__ alignas(16) half sa[16][16], sb[16][8];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) sa[i / 16][i % 16] = a[i];
  for (int i = lane; i < 128; i += 32) sb[i / 8][i % 8] = b[i];
  __syncwarp();
  unsigned ra[4], rb[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"(sharedAddress(&sa[lane % 16][lane / 16 * 8])));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(rb[0]), "=r"(rb[1])
               : "r"(sharedAddress(&sb[lane % 16][0])));
  float c[4] = {1, 1, 1, 1};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  int row = lane / 4, column = lane % 4 * 2;
  d[row * 8 + column] = c[0];
  d[row * 8 + column + 1] = c[1];
  d[(row + 8) * 8 + column] = c[2];
  d[(row + 8) * 8 + column + 1] = c[3];
}

/// Registers filled by hand as the manual's tables say: m16n8k8 on tf32 and m16n8k32 on bytes.
__global__ void byHand(const float* a, const float* b, float* d, const signed char* ia, const signed char* ib,
                       int* id) {
  int lane = threadIdx.x, group = lane / 4, in = lane % 4;
  unsigned x[4], y[2];
  x[0] = __float_as_uint(a[group * 8 + in]);
  x[1] = __float_as_uint(a[(group + 8) * 8 + in]);
  x[2] = __float_as_uint(a[group * 8 + in + 4]);
  x[3] = __float_as_uint(a[(group + 8) * 8 + in + 4]);
  y[0] = __float_as_uint(b[in * 8 + group]);
  y[1] = __float_as_uint(b[(in + 4) * 8 + group]);
  float c[4] = {};
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; ++i) d[(group + i / 2 * 8) * 8 + in * 2 + i % 2] = c[i];

  auto pack = [](const signed char* from, int step) {
    unsigned word = 0;
    for (int i = 0; i < 4; ++i) word |= unsigned((unsigned char)from[i * step]) << 8 * i;
    return word;
  };
  for (int r = 0; r < 4; ++r) x[r] = pack(ia + (group + r % 2 * 8) * 32 + in * 4 + r / 2 * 16, 1);
  for (int r = 0; r < 2; ++r) y[r] = pack(ib + (in * 4 + r * 16) * 8 + group, 8);
  int s[4] = {};
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; ++i) id[(group + i / 2 * 8) * 8 + in * 2 + i % 2] = s[i];
}

int main() {
  half *a, *b;
  float *d, *fa, *fb, *fd;
  signed char *ia, *ib;
  int *id, bad = 0;
  cudaMallocManaged(&a, 256 * 2);
  cudaMallocManaged(&b, 128 * 2);
  cudaMallocManaged(&d, 128 * 4);
  cudaMallocManaged(&fa, 128 * 4);
  cudaMallocManaged(&fb, 64 * 4);
  cudaMallocManaged(&fd, 128 * 4);
  cudaMallocManaged(&ia, 512);
  cudaMallocManaged(&ib, 256);
  cudaMallocManaged(&id, 128 * 4);
  for (int i = 0; i < 256; ++i) a[i] = __float2half(float(i * 7 % 13 - 6));
  for (int i = 0; i < 128; ++i) b[i] = __float2half(float(i * 5 % 11 - 5)), fa[i] = float(i * 3 % 17 - 8);
  for (int i = 0; i < 64; ++i) fb[i] = float(i * 3 % 7) * 0.5f;
  for (int i = 0; i < 512; ++i) ia[i] = (signed char)(i * 29);
  for (int i = 0; i < 256; ++i) ib[i] = (signed char)(i * 31 + 7);
  tile<<<1, 32>>>(a, b, d);
  byHand<<<1, 32>>>(fa, fb, fd, ia, ib, id);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      float sum = 1, other = 0;
      int whole = 0;
      for (int k = 0; k < 16; ++k) sum += __half2float(a[i * 16 + k]) * __half2float(b[k * 8 + j]);
      for (int k = 0; k < 8; ++k) other += fa[i * 8 + k] * fb[k * 8 + j];
      for (int k = 0; k < 32; ++k) whole += ia[i * 32 + k] * ib[k * 8 + j];
      bad += (d[i * 8 + j] != sum) + (fd[i * 8 + j] != other) + (id[i * 8 + j] != whole);
    }
  std::printf(bad ? "FAIL %d\n" : "PASS\n", bad);
  for (void* p :
       {(void*)a, (void*)b, (void*)d, (void*)fa, (void*)fb, (void*)fd, (void*)ia, (void*)ib, (void*)id})
    cudaFree(p);
  return bad != 0;
}
