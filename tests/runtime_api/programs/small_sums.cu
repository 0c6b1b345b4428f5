// atomicAdd of numbers that no float holds with a full mantissa: in global memory they count as zeros of their sign,
// in shared memory as themselves.
#include "check.h"
#include <cmath>

struct Sums {
  float found, sum, negative, reduced, vanished, wide;
  float sharedFound, shared;
};

__global__ void add(Sums* out, float small, float least) {
  __shared__ float s;
  out->sum = small;
  out->found = atomicAdd(&out->sum, small);
  out->negative = -small;
  atomicAdd(&out->negative, -small);
  out->reduced = 1;
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(&out->reduced), "f"(small));
  out->vanished = 1.5f * least;
  atomicAdd_system(&out->vanished, -least);
  out->wide = 1;
  atomicAdd(&out->wide, 2.f);
  s = small;
  out->sharedFound = atomicAdd(&s, small);
  out->shared = s;
}

__global__ void count(float* out) {
  __shared__ float block;
  if (threadIdx.x == 0) block = 0;
  __syncthreads();
  atomicAdd(&block, 1.f);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, block);
}

int main() {
  const float small = 1e-40f, least = 1.17549435e-38f;
  Sums *device, r;
  OK(cudaMalloc(&device, sizeof r));
  OK(cudaMemset(device, 0, sizeof r));
  add<<<1, 1>>>(device, small, least);
  OK(cudaMemcpy(&r, device, sizeof r, cudaMemcpyDeviceToHost));
  CHECK(r.found == small); // what lay there is given as it was
  CHECK(r.sum == 0 && !std::signbit(r.sum));
  CHECK(r.negative == 0 && std::signbit(r.negative));
  CHECK(r.reduced == 1);
  CHECK(r.vanished == 0);
  CHECK(r.wide == 3);
  CHECK(r.sharedFound == small && r.shared == 2 * small);
  float counted;
  OK(cudaMemset(device, 0, sizeof counted));
  count<<<40, 96>>>(&device->found);
  OK(cudaMemcpy(&counted, device, sizeof counted, cudaMemcpyDeviceToHost));
  CHECK(counted == 40 * 96);
  OK(cudaFree(device));
  std::printf("PASS\n");
}
