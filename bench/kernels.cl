// The kernels of bench/kernels.cu in OpenCL, for bench/oclgrind.
#define TILE 32
#define GLOBAL_X get_global_id(0)
#define LOCAL_X get_local_id(0)
#define LOCAL_Y get_local_id(1)

kernel void vectorAdd(global const float* a, global const float* b, global float* c, int n) {
  int i = GLOBAL_X;
  if (i < n) c[i] = a[i] + b[i];
}

kernel void transposeNaive(global const float* in, global float* out, int n) {
  int x = get_group_id(0) * TILE + LOCAL_X, y = get_group_id(1) * TILE + LOCAL_Y;
  for (int j = 0; j < TILE; j += 8) out[x * n + y + j] = in[(y + j) * n + x];
}

kernel void transposeTiled(global const float* in, global float* out, int n) {
  local float tile[TILE][TILE + 1];
  int x = get_group_id(0) * TILE + LOCAL_X, y = get_group_id(1) * TILE + LOCAL_Y;
  for (int j = 0; j < TILE; j += 8) tile[LOCAL_Y + j][LOCAL_X] = in[(y + j) * n + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * TILE + LOCAL_X, y = get_group_id(0) * TILE + LOCAL_Y;
  for (int j = 0; j < TILE; j += 8) out[(y + j) * n + x] = tile[LOCAL_X][LOCAL_Y + j];
}

kernel void matmulTiled(global const float* a, global const float* b, global float* c, int n) {
  local float as[16][16], bs[16][16];
  int row = get_group_id(1) * 16 + LOCAL_Y, column = get_group_id(0) * 16 + LOCAL_X;
  float sum = 0;
  for (int m = 0; m < n / 16; ++m) {
    as[LOCAL_Y][LOCAL_X] = a[row * n + m * 16 + LOCAL_X];
    bs[LOCAL_Y][LOCAL_X] = b[(m * 16 + LOCAL_Y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) sum += as[LOCAL_Y][k] * bs[k][LOCAL_X];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

kernel void reduceBlock(global const float* in, global float* out, int n) {
  local float partial[256];
  int t = LOCAL_X, i = get_group_id(0) * 256 + t;
  partial[t] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) partial[t] += partial[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = partial[0];
}

kernel void histogram(global const unsigned* data, global unsigned* bins, int n) {
  int stride = get_global_size(0);
  for (int i = GLOBAL_X; i < n; i += stride) atomic_inc(&bins[data[i]]);
}

kernel void spmv(global const int* rowStart, global const int* columns, global const float* values,
                 global const float* x, global float* y, int rows) {
  int row = GLOBAL_X;
  if (row >= rows) return;
  float sum = 0;
  for (int j = rowStart[row]; j < rowStart[row + 1]; ++j) sum += values[j] * x[columns[j]];
  y[row] = sum;
}

kernel void stencil(global const float* in, global float* out, int n) {
  int x = GLOBAL_X, y = get_global_id(1);
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] +
                           in[(y + 1) * n + x]);
}

kernel void bfsStep(global const int* rowStart, global const int* columns, global int* depth,
                    global const int* frontier, int count, global int* next, global int* nextCount,
                    int level) {
  int i = GLOBAL_X;
  if (i >= count) return;
  int node = frontier[i];
  for (int j = rowStart[node]; j < rowStart[node + 1]; ++j) {
    int other = columns[j];
    if (atomic_cmpxchg(&depth[other], -1, level) == -1) next[atomic_inc(nextCount)] = other;
  }
}

// What starting Oclgrind costs.
kernel void nothing(global float* out) {}
