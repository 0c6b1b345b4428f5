#include "bench/workloads.h"

#include "instrument/runtime/core/launch.h"
#include "instrument/runtime/core/memory.h"

#include <cassert>
#include <cstring>
#include <random>

namespace kcheck::bench {

namespace {

/// An array in device memory that the host has filled.
template <class T> T* onDevice(const std::vector<T>& values) {
  std::size_t bytes = values.size() * sizeof(T);
  void* memory = runtime::allocate(bytes, runtime::MemoryKind::Device, nullptr);
  assert(memory && "the benchmark's arrays are small");
  std::memcpy(memory, values.data(), bytes);
  runtime::markWrittenByHost(memory, bytes, 0);
  return static_cast<T*>(memory);
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::minstd_rand random(1);
  for (float& value : values) value = static_cast<float>(random() % 1000) / 100;
  return values;
}

template <class... Arguments>
void launch(const abi::KernelEntry& kernel, Dim3 grid, Dim3 block, Arguments... arguments) {
  void* pointers[] = {static_cast<void*>(&arguments)...};
  runtime::LaunchConfig config;
  config.grid = grid;
  config.block = block;
  runtime::launch(kernel, config, pointers);
}

Dim3 dim(unsigned x, unsigned y = 1) { return {x, y, 1}; }

/// A sparse matrix or graph: 0 to 16 entries a row, anywhere.
struct Sparse {
  int rows;
  std::vector<int> start, columns;
  explicit Sparse(int rows) : rows(rows), start{0} {
    std::minstd_rand random(7);
    for (int row = 0; row < rows; ++row) {
      for (unsigned left = random() % 17; left; --left)
        columns.push_back(static_cast<int>(random() % static_cast<unsigned>(rows)));
      start.push_back(static_cast<int>(columns.size()));
    }
  }
};

Workload vectorAdd() {
  constexpr int n = 1 << 18;
  float *a = onDevice(numbers(n)), *b = onDevice(numbers(n)), *c = onDevice(numbers(n));
  return {"vector add", "vectorAdd", Shape::Streaming, 3ull * n,
          [=](const auto& kernel) { launch(kernel, dim(n / 256), dim(256), a, b, c, n); }};
}

Workload transpose(const char* name, const char* kernel, Shape shape, unsigned accesses) {
  constexpr int n = 512;
  float *in = onDevice(numbers(n * n)), *out = onDevice(numbers(n * n));
  return {name, kernel, shape, std::uint64_t{accesses} * n * n,
          [=](const auto& entry) { launch(entry, dim(n / 32, n / 32), dim(32, 8), in, out, n); }};
}

Workload matmul() {
  constexpr int n = 256;
  float *a = onDevice(numbers(n * n)), *b = onDevice(numbers(n * n)), *c = onDevice(numbers(n * n));
  return {"tiled matrix product", "matmulTiled", Shape::Tiled, n * n * (n / 16 * 36ull + 1),
          [=](const auto& kernel) { launch(kernel, dim(n / 16, n / 16), dim(16, 16), a, b, c, n); }};
}

Workload reduction() {
  constexpr int n = 1 << 18;
  float *in = onDevice(numbers(n)), *out = onDevice(numbers(n / 256));
  return {"reduction", "reduceBlock", Shape::Tiled, n / 256 * (512ull + 255 * 3 + 2),
          [=](const auto& kernel) { launch(kernel, dim(n / 256), dim(256), in, out, n); }};
}

Workload histogram() {
  constexpr int n = 1 << 18, bins = 4096;
  std::vector<unsigned> data(n);
  std::minstd_rand random(3);
  for (unsigned& value : data) value = static_cast<unsigned>(random()) % bins;
  unsigned *in = onDevice(data), *out = onDevice(std::vector<unsigned>(bins));
  return {"histogram", "histogram", Shape::Scattered, 2ull * n,
          [=](const auto& kernel) { launch(kernel, dim(256), dim(256), in, out, n); }};
}

Workload spmv() {
  Sparse matrix(1 << 16);
  int *start = onDevice(matrix.start), *columns = onDevice(matrix.columns);
  float *values = onDevice(numbers(matrix.columns.size())), *x = onDevice(numbers(1 << 16)),
        *y = onDevice(numbers(1 << 16));
  int rows = matrix.rows;
  return {"sparse matrix times vector", "spmv", Shape::Scattered,
          4 * matrix.columns.size() + 3ull * matrix.rows, [=](const auto& kernel) {
            launch(kernel, dim(unsigned(rows) / 256), dim(256), start, columns, values, x, y, rows);
          }};
}

Workload stencil() {
  constexpr int n = 512;
  float *in = onDevice(numbers(n * n)), *out = onDevice(numbers(n * n));
  return {"5-point stencil", "stencil", Shape::Streaming, 6ull * (n - 2) * (n - 2),
          [=](const auto& kernel) { launch(kernel, dim(n / 32, n / 8), dim(32, 8), in, out, n); }};
}

Workload bfs() {
  Sparse graph(1 << 15);
  std::vector<int> zeros(std::size_t(graph.rows), 0);
  int *start = onDevice(graph.start), *columns = onDevice(graph.columns), *depth = onDevice(zeros),
      *first = onDevice(zeros), *second = onDevice(zeros), *count = onDevice(std::vector<int>{0});
  int rows = graph.rows;
  // The host sets memory straight, as an unchecked copy would: both twins pay nothing for it.
  auto round = [=](const abi::KernelEntry& kernel) {
    int *frontier = first, *next = second;
    std::memset(depth, -1, std::size_t(rows) * sizeof(int));
    frontier[0] = 0, depth[0] = 0;
    for (int level = 1, size = 1; size; ++level) {
      *count = 0;
      launch(kernel, dim(unsigned(size + 127) / 128), dim(128), start, columns, depth, frontier, size, next,
             count, level);
      size = *count;
      std::swap(frontier, next);
    }
  };
  return {"breadth-first search", "bfsStep", Shape::Scattered, 4 * graph.columns.size() + 5ull * graph.rows,
          round};
}

} // namespace

std::vector<Workload> workloads() {
  return {vectorAdd(),
          transpose("naive transpose", "transposeNaive", Shape::Scattered, 2),
          transpose("tiled transpose", "transposeTiled", Shape::Tiled, 4),
          matmul(),
          reduction(),
          histogram(),
          spmv(),
          stencil(),
          bfs()};
}

} // namespace kcheck::bench
