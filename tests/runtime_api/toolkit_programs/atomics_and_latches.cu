// cuda::atomic_ref, atomic wait and notify, latch, counting_semaphore, barrier with drops and with a
// completion.
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
__global__ void refs(int* hist, const unsigned* in, int n, double* sum, int* mn) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    cuda::atomic_ref<int, cuda::thread_scope_device> r(hist[in[i] & 15]);
    r.fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<double, cuda::thread_scope_device>(*sum).fetch_add(double(in[i]),
                                                                        cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(*mn).fetch_min(int(in[i]), cuda::memory_order_relaxed);
  }
}
struct Msg {
  int data;
  cuda::atomic<int, cuda::thread_scope_device> flag;
};
__global__ void handoff(Msg* m, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      m->data = 42;
      m->flag.store(1, cuda::memory_order_release);
      m->flag.notify_all();
    }
  } else {
    if (threadIdx.x == 0) {
      m->flag.wait(0, cuda::memory_order_acquire);
      out[0] = m->data;
    }
  }
}
__global__ void latched(int* out) {
  __shared__ cuda::latch<cuda::thread_scope_block>* dummy;
  __shared__ alignas(16) unsigned char mem[sizeof(cuda::latch<cuda::thread_scope_block>)];
  auto* l = reinterpret_cast<cuda::latch<cuda::thread_scope_block>*>(mem);
  __shared__ int v[64];
  if (threadIdx.x == 0) {
    new (l) cuda::latch<cuda::thread_scope_block>(blockDim.x);
    dummy = l;
  }
  __syncthreads();
  v[threadIdx.x] = threadIdx.x * 3;
  l->arrive_and_wait();
  out[threadIdx.x] = v[63 - threadIdx.x];
}
__global__ void sema(int* count, cuda::counting_semaphore<cuda::thread_scope_device, 4>* s,
                     cuda::atomic<int, cuda::thread_scope_device>* in, int* most) {
  if (threadIdx.x == 0) {
    s->acquire();
    int now = in->fetch_add(1) + 1;
    atomicMax(most, now);
    atomicAdd(count, 1);
    in->fetch_sub(1);
    s->release();
  }
}
__global__ void drop(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ int v[64];
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  v[threadIdx.x] = threadIdx.x;
  b.arrive_and_wait();
  if (threadIdx.x >= 32) {
    b.arrive_and_drop();
    return;
  }
  int x = v[63 - threadIdx.x];
  b.arrive_and_wait();
  v[threadIdx.x] = x + v[threadIdx.x + 32];
  auto t = b.arrive();
  b.wait(std::move(t));
  out[threadIdx.x] = v[31 - threadIdx.x];
}
struct Done {
  int* n;
  __device__ void operator()() noexcept { ++*n; }
};
__global__ void completion(int* out) {
  __shared__ int n;
  __shared__ alignas(16) char mem[sizeof(cuda::barrier<cuda::thread_scope_block, Done>)];
  auto* b = reinterpret_cast<cuda::barrier<cuda::thread_scope_block, Done>*>(mem);
  if (threadIdx.x == 0) {
    n = 0;
    new (b) cuda::barrier<cuda::thread_scope_block, Done>(blockDim.x, Done{&n});
  }
  __syncthreads();
  for (int i = 0; i < 3; ++i) b->arrive_and_wait();
  if (threadIdx.x == 0) out[0] = n;
}
__global__ void mk(Msg* m, cuda::counting_semaphore<cuda::thread_scope_device, 4>* s,
                   cuda::atomic<int, cuda::thread_scope_device>* in) {
  new (&m->flag) cuda::atomic<int, cuda::thread_scope_device>(0);
  new (s) cuda::counting_semaphore<cuda::thread_scope_device, 4>(4);
  new (in) cuda::atomic<int, cuda::thread_scope_device>(0);
}
int main() {
  const int n = 1000;
  unsigned h[n];
  int want[16] = {};
  double ws = 0;
  int wm = 1 << 30;
  for (int i = 0; i < n; ++i) {
    h[i] = 12345u + i * 2654435761u >> 8;
    want[h[i] & 15]++;
    ws += h[i];
    if (int(h[i]) < wm) wm = h[i];
  }
  unsigned* in;
  int *hist, *mn, *out, *cnt;
  double* sum;
  Msg* m;
  cuda::counting_semaphore<cuda::thread_scope_device, 4>* s;
  cuda::atomic<int, cuda::thread_scope_device>* a;
  cudaMallocManaged(&in, n * 4);
  cudaMallocManaged(&hist, 64);
  cudaMallocManaged(&mn, 4);
  cudaMallocManaged(&sum, 8);
  cudaMallocManaged(&out, 1024);
  cudaMallocManaged(&m, sizeof(Msg));
  cudaMallocManaged(&s, sizeof *s);
  cudaMallocManaged(&a, sizeof *a);
  cudaMallocManaged(&cnt, 8);
  for (int i = 0; i < n; ++i) in[i] = h[i];
  for (int i = 0; i < 16; ++i) hist[i] = 0;
  *sum = 0;
  *mn = 1 << 30;
  cnt[0] = cnt[1] = 0;
  refs<<<8, 128>>>(hist, in, n, sum, mn);
  cudaDeviceSynchronize();
  int bad = *sum != ws || *mn != wm;
  for (int i = 0; i < 16; ++i) bad += hist[i] != want[i];
  printf("refs %d\n", bad);
  mk<<<1, 1>>>(m, s, a);
  handoff<<<2, 32>>>(m, out);
  cudaDeviceSynchronize();
  bad += out[0] != 42;
  printf("handoff %d\n", bad);
  latched<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) bad += out[i] != (63 - i) * 3;
  printf("latch %d\n", bad);
  sema<<<32, 32>>>(cnt, s, a, cnt + 1);
  cudaDeviceSynchronize();
  bad += cnt[0] != 32 || cnt[1] > 4;
  printf("sema %d\n", bad);
  drop<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) bad += out[i] != 63 - (31 - i) + (31 - i) + 32;
  printf("drop %d\n", bad);
  completion<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  bad += out[0] != 3;
  printf("completion %d %d\n", bad, out[0]);
  cudaFree(in);
  cudaFree(hist);
  cudaFree(mn);
  cudaFree(sum);
  cudaFree(out);
  cudaFree(m);
  cudaFree(s);
  cudaFree(a);
  cudaFree(cnt);
  printf(bad ? "FAIL: %d wrong\n" : "PASS\n", bad);
  return bad != 0;
}
