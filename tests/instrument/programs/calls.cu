// Recursion, function pointers in tables, virtual functions, lambdas, structs by value and as results.
#include "check.h"

__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int (*const table[2])(int, int) = {add, subtract};
__device__ int (*chosen)(int, int) = subtract;

struct Shape {
  __device__ virtual int area() const { return 0; }
  __device__ virtual int sides() const = 0;
};
struct Square : Shape {
  int a;
  __device__ explicit Square(int a) : a(a) {}
  __device__ int area() const override { return a * a; }
  __device__ int sides() const override { return 4; }
};
struct Triangle : Shape {
  int b, h;
  __device__ Triangle(int b, int h) : b(b), h(h) {}
  __device__ int area() const override { return b * h / 2; }
  __device__ int sides() const override { return 3; }
};

struct Large {
  int head;
  double values[6];
  char tail;
};
__device__ Large twice(Large x) {
  for (double& v : x.values) v *= 2;
  x.tail++;
  return x;
}
template <typename F> __device__ int apply(F f, int x) { return f(f(x)); }

__global__ void run(int* out, double* wide, Large large, char3 odd) {
  int t = threadIdx.x;
  out[t] = factorial(t % 8);
  out[32 + t] = table[t % 2](t, 3) + chosen(t, 1);
  Square square(t);
  Triangle triangle(t, 4);
  Shape* shape = t % 2 ? static_cast<Shape*>(&square) : &triangle;
  out[64 + t] = shape->area() * 10 + shape->sides();
  Shape* onHeap = new Square(t + 1);
  out[96 + t] = onHeap->area();
  delete static_cast<Square*>(onHeap);
  large.head += t;
  Large result = twice(large);
  wide[t] = result.head + result.values[t % 6] + result.tail;
  out[128 + t] = apply([=](int x) { return x * 2 + t; }, 1) + odd.x + odd.y * odd.z;
  out[160 + t] = t < 4 ? ackermann(2, t) : 0;
}

int main() {
  Buffer<int> out(192);
  Buffer<double> wide(32);
  Large large{5, {1, 2, 3, 4, 5, 6}, 7};
  run<<<1, 32>>>(out.data, wide.data, large, char3{1, 2, 3});
  cudaDeviceSynchronize();
  const int factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (int i = 0; i < 32; ++i) {
    same("factorial", i, out[i], factorials[i % 8]);
    same("table", i, out[32 + i], (i % 2 ? i - 3 : i + 3) + i - 1);
    same("virtual", i, out[64 + i], i % 2 ? i * i * 10 + 4 : i * 4 / 2 * 10 + 3);
    same("heap", i, out[96 + i], (i + 1) * (i + 1));
    same("struct", i, wide[i], 5 + i + 2.0 * (i % 6 + 1) + 8);
    same("lambda", i, out[128 + i], (2 + i) * 2 + i + 1 + 6);
    same("ackermann", i, out[160 + i], i < 4 ? 2 * i + 3 : 0);
  }
  return finish();
}
