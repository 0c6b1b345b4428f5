// Gravity between 2048 bodies, two time steps. A block keeps 256 positions at a time in shared memory, so
// that each is read from global memory once per block and not once per thread.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

constexpr int kBodies = 2048;
constexpr int kBlock = 256;
constexpr int kSteps = 2;
constexpr float kTime = 0.01f;
constexpr float kSoftening = 0.05f;

struct Body {
  float x, y, z, mass;
};

__host__ __device__ inline void addPull(const Body& me, const Body& other, float pull[3]) {
  float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  float square = dx * dx + dy * dy + dz * dz + kSoftening;
  float strength = other.mass / (square * sqrtf(square));
  pull[0] += strength * dx;
  pull[1] += strength * dy;
  pull[2] += strength * dz;
}

__global__ void step(const Body* before, Body* after, float3* speeds) {
  __shared__ Body tile[kBlock];
  int i = blockIdx.x * kBlock + threadIdx.x;
  Body me = before[i]; // expect: uncoalesced
  float pull[3] = {0.0f, 0.0f, 0.0f};
  for (int start = 0; start < kBodies; start += kBlock) {
    tile[threadIdx.x] = before[start + threadIdx.x]; // expect: uncoalesced, bank-conflict
    __syncthreads();
    for (int k = 0; k < kBlock; ++k) addPull(me, tile[k], pull);
    __syncthreads();
  }
  float3 speed = speeds[i]; // expect: uncoalesced
  speed.x += kTime * pull[0];
  speed.y += kTime * pull[1];
  speed.z += kTime * pull[2];
  speeds[i] = speed; // expect: uncoalesced
  after[i] = {me.x + kTime * speed.x, me.y + kTime * speed.y, me.z + kTime * speed.z, me.mass}; // expect: uncoalesced
}

static void stepOnHost(std::vector<Body>& bodies, std::vector<float3>& speeds) {
  std::vector<Body> before = bodies;
  for (int i = 0; i < kBodies; ++i) {
    float pull[3] = {0.0f, 0.0f, 0.0f};
    for (const Body& other : before) addPull(before[i], other, pull);
    speeds[i].x += kTime * pull[0];
    speeds[i].y += kTime * pull[1];
    speeds[i].z += kTime * pull[2];
    bodies[i].x += kTime * speeds[i].x;
    bodies[i].y += kTime * speeds[i].y;
    bodies[i].z += kTime * speeds[i].z;
  }
}

int main() {
  std::vector<Body> bodies(kBodies), result(kBodies);
  std::vector<float3> speeds(kBodies, make_float3(0.0f, 0.0f, 0.0f));
  unsigned state = 1;
  auto random = [&state] {
    state = state * 1664525u + 1013904223u;
    return float(state >> 8) / (1u << 24);
  };
  for (Body& body : bodies) {
    body.x = random();
    body.y = random();
    body.z = random();
    body.mass = (0.5f + random()) / kBodies;
  }

  Body *dbefore, *dafter;
  float3* dspeeds;
  cudaMalloc(&dbefore, kBodies * sizeof(Body));
  cudaMalloc(&dafter, kBodies * sizeof(Body));
  cudaMalloc(&dspeeds, kBodies * sizeof(float3));
  cudaMemcpy(dbefore, bodies.data(), kBodies * sizeof(Body), cudaMemcpyHostToDevice);
  cudaMemset(dspeeds, 0, kBodies * sizeof(float3));
  for (int k = 0; k < kSteps; ++k) {
    step<<<kBodies / kBlock, kBlock>>>(dbefore, dafter, dspeeds);
    std::swap(dbefore, dafter);
    stepOnHost(bodies, speeds);
  }
  cudaMemcpy(result.data(), dbefore, kBodies * sizeof(Body), cudaMemcpyDeviceToHost);
  cudaFree(dbefore);
  cudaFree(dafter);
  cudaFree(dspeeds);

  int wrong = 0;
  for (int i = 0; i < kBodies; ++i) {
    float dx = result[i].x - bodies[i].x, dy = result[i].y - bodies[i].y, dz = result[i].z - bodies[i].z;
    wrong += !(std::fabs(dx) + std::fabs(dy) + std::fabs(dz) < 1e-4f);
  }
  printf("nbody: %d of %d bodies wrong\n", wrong, kBodies);
  return wrong == 0 ? 0 : 1;
}
