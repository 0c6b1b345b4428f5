// What programs include and call compiles: with kcheck's own headers, and with a toolkit's where there is
// one.
#include "compile_source.h"

#include "frontend/source_text.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

namespace kcheck::frontend {
namespace {

using testing::HasSubstr;

struct Feature {
  const char* name;
  const char* text;
  bool toolkitOnly = false;
};

const Feature kFeatures[] = {
    {"Basics", R"(#include <cuda_runtime.h>
#include <cassert>
#include <cstdio>
#include <vector>
extern __shared__ int dynamic[];
__constant__ float table[3];
__global__ void __launch_bounds__(128) k(int* c, float4* v, double* d) {
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  __syncwarp();
  v[0] = make_float4(1, 2, 3, table[1]);
  d[0] = sin(d[1]) + sqrtf(v[0].x) + fminf(1, 2) + rsqrt(3.0f) + pow(d[0], 2) + __expf(2) + max(1u, 2) + min(1.0f, 2.0);
  c[0] = __shfl_down_sync(~0u, c[3], 1) + __ballot_sync(~0u, 1) + __popc(3) + __ldg(c) + __clz(c[1]) + __ldcs(c + 2);
  c[1] = __reduce_add_sync(~0u, 1u) + __match_any_sync(~0u, c[2]) + __syncthreads_count(1) + __dp4a(c[0], c[1], 0);
  __stcs(c, 1);
  __threadfence();
  __nanosleep(10);
  printf("%d\n", c[0]);
  assert(c[0] > 3);
  dim3 block = blockDim;
  c[2] = block.x + warpSize;
  __builtin_assume(gridDim.x > 1);
}
int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  int *c, blocks, size;
  cudaMalloc(&c, max(16u, 4));
  cudaOccupancyMaxPotentialBlockSize(&blocks, &size, k);
  k<<<1, 32, 128>>>(c, nullptr, nullptr);
  cudaEvent_t event;
  cudaEventCreate(&event);
  printf("%d %d %s\n", properties.clockRate, properties.memoryClockRate, cudaGetErrorString(cudaGetLastError()));
})"},
    {"Lambdas", R"(template <typename F> __global__ void call(F f) { f(threadIdx.x); }
int main() {
  int* d;
  cudaMalloc(&d, 16);
  call<<<1, 4>>>([=] __device__(int i) { d[i] = i; });
})"},
    {"AtomicsInAllScopes",
     R"(__global__ void k(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  atomicAdd(i, 1); atomicAdd_block(u, 1u); atomicAdd_system(l, 1ull); atomicAdd(f, 1.f); atomicAdd(d, 1.0);
  atomicSub(i, 1); atomicMin(i, 1); atomicMax(u, 1u); atomicInc(u, 7u); atomicDec(u, 7u); atomicExch(f, 1.f);
  atomicCAS(i, 0, 1); atomicCAS(l, 0ull, 1ull); atomicAnd(u, 1u); atomicOr(i, 1); atomicXor(l, 1ull);
})"},
    {"CudaAtomic", R"(#include <cuda/atomic>
__device__ cuda::atomic<int, cuda::thread_scope_device> counter;
__global__ void k(int* p) {
  counter.fetch_add(1, cuda::memory_order_relaxed);
  counter++;
  cuda::atomic_ref<int, cuda::thread_scope_block> r(*p);
  r.store(3, cuda::memory_order_release);
  int x = r.load(cuda::memory_order_acquire);
  r.compare_exchange_strong(x, 4);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
})"},
    {"NvAtomicBuiltins", R"(__global__ void k(int* p, float* f) {
  __nv_atomic_fetch_add(p, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_store_n(p, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
  int x = __nv_atomic_load_n(p, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
  __nv_atomic_fetch_add(f, 1.0f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  p[1] = x;
})"},
    {"BarrierObjects", R"(#include <cuda/barrier>
__global__ void k(int* p) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ Barrier b;
  __shared__ alignas(Barrier) unsigned char space[sizeof(Barrier)];
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  b.arrive_and_wait();
  p[0] = space[0];
})"},
    {"AsynchronousCopies", R"(#include <cuda_pipeline_primitives.h>
__global__ void k(const int* p, int* q) {
  __shared__ int tile[32];
  __pipeline_memcpy_async(&tile[threadIdx.x], &p[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  q[threadIdx.x] = tile[threadIdx.x];
})"},
    {"CooperativeGroups", R"(#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  auto grid = cg::this_grid();
  p[grid.thread_rank()] = tile.shfl_down(p[0], 1) + cg::reduce(tile, 1, cg::plus<int>());
  block.sync();
  tile.sync();
  grid.sync();
  auto active = cg::coalesced_threads();
  p[active.thread_rank()] = active.size() + tile.ballot(1) + tile.any(1);
}
int main() {
  int* p;
  cudaMalloc(&p, 4096);
  void* arguments[] = {&p};
  cudaLaunchCooperativeKernel((void*)k, dim3(2), dim3(64), arguments, 0, 0);
})"},
    {"RandomNumbers", R"(#include <curand_kernel.h>
__global__ void k(float* p) {
  curandState s;
  curand_init(1234, threadIdx.x, 0, &s);
  p[threadIdx.x] = curand_uniform(&s) + curand_normal(&s);
  curandStatePhilox4_32_10_t q;
  curand_init(1, 2, 3, &q);
  p[0] = curand_uniform4(&q).x;
})"},
    {"Libraries", R"(#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
__global__ void k(float* x) { x[threadIdx.x] *= 2; }
int main() {
  float *x, one = 1, largest;
  int place;
  cudaMalloc(&x, 64 * sizeof(float));
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MRG32K3A);
  curandGenerateNormal(generator, x, 64, 0, 1);
  k<<<1, 64>>>(x);
  cufftHandle plan;
  cufftPlan1d(&plan, 32, CUFFT_C2C, 1);
  cufftExecC2C(plan, (cufftComplex*)x, (cufftComplex*)x, CUFFT_INVERSE);
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 4, 4, 4, &one, x, 4, x + 16, 4, &one, x + 32, 4);
  cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x, CUDA_R_32F, 4, x, CUDA_R_32F, 4, &one, x + 32,
               CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  cublasIsamax(handle, 64, x, 1, &place);
  cublasSnrm2(handle, 64, x, 1, &largest);
})"},
    {"HalfTypes", R"(#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void k(__half* h, __half2* h2, __nv_bfloat16* b, float* f) {
  int i = threadIdx.x;
  h[i] = __hadd(h[i], __float2half(2.f)) * h[1];
  h2[i] = __hfma2(h2[i], h2[i], h2[i]);
  b[i] = __float2bfloat16(f[i]) + b[1];
  f[i] = __half2float(h[i]) + __bfloat162float(b[i]);
  atomicAdd(h2, h2[1]);
})"},
    {"Textures", R"(__global__ void k(float* p, float4* v, cudaTextureObject_t t) {
  p[0] = tex2D<float>(t, 1.f, 2.f) + tex1Dfetch<int>(t, 2) + tex3D<float2>(t, 1, 2, 3).x;
  v[0] = tex1D<float4>(t, 1);
})"},
    {"Surfaces", R"(__global__ void k(cudaSurfaceObject_t s, float* p) {
  surf2Dwrite(1.0f, s, 4, 5);
  float r;
  surf2Dread(&r, s, 4, 5);
  p[4] = r + surf2Dread<float4>(s, 1, 2, cudaBoundaryModeZero).x;
  surf1Dwrite((short)1, s, 2);
})"},
    {"Thrust", R"(#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>
struct Square { __host__ __device__ float operator()(float x) const { return x * x; } };
int main() {
  thrust::device_vector<float> v(1000, 2.f);
  thrust::transform(v.begin(), v.end(), v.begin(), Square());
  return thrust::reduce(v.begin(), v.end()) > 1;
})",
     true},
    {"Cub", R"(#include <cub/cub.cuh>
__global__ void k(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage storage;
  int sum = Reduce(storage).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) *out = sum;
})",
     true},
};

void PrintTo(const Feature& feature, std::ostream* stream) { *stream << feature.name; }

class Headers : public testing::TestWithParam<Feature> {};

void expectCompiles(const std::string& toolkit) {
  Options options;
  options.cudaPath = toolkit;
  auto program = compileSource(Headers::GetParam().text, options);
  EXPECT_TRUE(program) << program.error().message;
  if (program) EXPECT_FALSE(program->facts.kernels.empty());
}

TEST_P(Headers, OwnAreEnough) {
  if (GetParam().toolkitOnly) GTEST_SKIP() << "comes with a CUDA toolkit only";
  expectCompiles("none");
}

TEST_P(Headers, OfAToolkitCompile) {
  if (toolkitPath().empty()) GTEST_SKIP() << "no CUDA toolkit here";
  expectCompiles(toolkitPath());
}

INSTANTIATE_TEST_SUITE_P(All, Headers, testing::ValuesIn(kFeatures),
                         [](const auto& info) { return std::string(info.param.name); });

/// Names that the CUDA headers use for parameters and templates of their own.
TEST(UserMacros, AreNotSeenByHeaders) {
  const std::string text = R"(
template <int COUNT> __global__ void k(T* out) { out[threadIdx.x] = N + COUNT; }
int main() { k<M><<<1, N>>>(nullptr); }
)";
  for (const std::string& path : {std::string("none"), toolkitPath()}) {
    if (path.empty()) continue;
    Options options;
    options.cudaPath = path;
    options.clangArguments = {"-DN=64", "-DT=float", "-D", "M=3", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"};
    auto program = compileSource(text, options);
    EXPECT_TRUE(program) << program.error().message;
  }
}

/// Clang's own headers include `cuda.h` by that name, and take it from where the user's headers are.
TEST(UserHeaders, MayHaveTheNamesOfTheToolkits) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "kcheck_user_headers";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "cuda.h") << "#error this is not the toolkit's\n";
  for (const std::string& path : {std::string("none"), toolkitPath()}) {
    if (path.empty()) continue;
    Options options;
    options.cudaPath = path;
    options.clangArguments = {"-I" + folder.string()};
    auto program = compileSource("__global__ void k(int* p) { p[threadIdx.x] = 1; }\n", options);
    EXPECT_TRUE(program) << program.error().message;
  }
  std::filesystem::remove_all(folder);
}

TEST(OwnHeaders, BothGiveTheSameSitesAndFacts) {
  if (toolkitPath().empty()) GTEST_SKIP() << "no CUDA toolkit here";
  const std::string text = kFeatures[2].text;
  Options own, toolkit;
  own.cudaPath = "none";
  toolkit.cudaPath = toolkitPath();
  auto a = compileSource(text, own), b = compileSource(text, toolkit);
  ASSERT_TRUE(a);
  ASSERT_TRUE(b);
  EXPECT_EQ(describeSites(a->facts), describeSites(b->facts));
}

TEST(SourceText, RestoresDroppedDevicePropertiesInTheirPlace) {
  const std::string restored = restoreDeviceProperties(
      "struct __device_builtin__ cudaDeviceProp\n{\n  int major;\n  int reserved[56];\n};\n");
  EXPECT_THAT(restored, HasSubstr("int clockRate, memoryClockRate, "));
  EXPECT_THAT(restored, HasSubstr("reserved[48];"));
  EXPECT_EQ(restoreDeviceProperties(
                "struct __device_builtin__ cudaDeviceProp { int clockRate; int reserved[56]; };"),
            "");
  EXPECT_EQ(restoreDeviceProperties("something else"), "");
}

} // namespace
} // namespace kcheck::frontend
