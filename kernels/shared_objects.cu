// Objects in shared memory of types that set themselves or tidy up elsewhere: nvcc runs neither there.
#include <cstdio>
#include <type_traits>

template <class T> struct Complex {
  T real, imag;
  __host__ __device__ Complex(const T& real = T(), const T& imag = T()) : real(real), imag(imag) {}
};

struct Matrix {
  float* data = nullptr;
  int columns = 0;
  template <class T = float, class = typename std::enable_if<sizeof(T) == 4>::type>
  __device__ Matrix() {}
  __device__ Matrix(float* data, int columns) : data(data), columns(columns) {}
  __device__ float& at(int row, int column) { return data[row * columns + column]; }
};

struct Range {
  int first = -1, last = -1;
  __host__ __device__ ~Range() { first = last; }
};

template <class T> __global__ void rotate(Complex<float>* values, T* firsts, int n) {
  __shared__ Complex<float> tile[64];
  __shared__ Range range;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    Range mine;
    mine.first = blockIdx.x * blockDim.x;
    range = mine;
  }
  if (i < n) tile[threadIdx.x] = values[i];
  __syncthreads();
  if (i < n) values[i] = Complex<float>(-tile[threadIdx.x].imag, tile[threadIdx.x].real);
  if (threadIdx.x == 0) firsts[blockIdx.x] = range.first + Range().last;
}

__global__ void fillRows(float* data, int columns) {
  __shared__ Matrix view;
  if (threadIdx.x == 0) view = Matrix(data, columns);
  __syncthreads();
  for (int column = threadIdx.x; column < columns; column += blockDim.x) view.at(blockIdx.x, column) = 1;
}

int main() {
  const int n = 128;
  Complex<float>* values;
  int* firsts;
  float* data;
  cudaMallocManaged(&values, n * sizeof(Complex<float>));
  cudaMallocManaged(&firsts, n / 64 * sizeof(int));
  cudaMalloc(&data, 4 * 64 * sizeof(float));
  for (int i = 0; i < n; ++i) values[i] = Complex<float>(i, 1);
  rotate<int><<<n / 64, 64>>>(values, firsts, n);
  fillRows<<<4, 64>>>(data, 64);
  cudaDeviceSynchronize();
  Range unset;
  bool right = firsts[0] == -1 && firsts[1] == 63 && values[5].imag == 5 && unset.first == -1;
  cudaFree(values);
  cudaFree(firsts);
  cudaFree(data);
  printf("%d wrong\n", right ? 0 : 1);
  return right ? 0 : 1;
}
