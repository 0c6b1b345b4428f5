// The kernels that bench/ measures. Each is launched as a whole by bench/kernels.cpp, which also says the sizes.
#define TILE 32

extern "C" __global__ void vectorAdd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void transposeNaive(const float* in, float* out, int n) {
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) out[x * n + y + j] = in[(y + j) * n + x];
}

extern "C" __global__ void transposeTiled(const float* in, float* out, int n) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void matmulTiled(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int m = 0; m < n / 16; ++m) {
    as[threadIdx.y][threadIdx.x] = a[row * n + m * 16 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(m * 16 + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void reduceBlock(const float* in, float* out, int n) {
  __shared__ float partial[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  partial[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void histogram(const unsigned* data, unsigned* bins, int n) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&bins[data[i]], 1u);
}

// Rows of compressed sparse rows, one thread each.
extern "C" __global__ void spmv(const int* rowStart, const int* columns, const float* values, const float* x,
                                float* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int j = rowStart[row]; j < rowStart[row + 1]; ++j) sum += values[j] * x[columns[j]];
  y[row] = sum;
}

extern "C" __global__ void stencil(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] +
                           in[(y + 1) * n + x]);
}

// One step of a breadth-first search: the frontier's unvisited neighbours form the next one.
extern "C" __global__ void bfsStep(const int* rowStart, const int* columns, int* depth, const int* frontier,
                                   int count, int* next, int* nextCount, int level) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int node = frontier[i];
  for (int j = rowStart[node]; j < rowStart[node + 1]; ++j) {
    int other = columns[j];
    if (atomicCAS(&depth[other], -1, level) == -1) next[atomicAdd(nextCount, 1)] = other;
  }
}
