// One field of a structure of four floats uses a quarter of the bytes that it moves; the same field as an
// array of its own uses all, and so does reading the whole structure as one float4.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 32768;

struct Particle {
  float x, y, z, mass;
};

__global__ void massesOfStructures(const Particle* particles, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float mass = particles[i].mass; // expect-efficiency: 25 // expect-sectors: 16 // expect: uncoalesced
  out[i] = 2.0f * mass;           // expect-efficiency: 100
}

__global__ void massesOfArray(const float* masses, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float mass = masses[i]; // expect-efficiency: 100 // expect-sectors: 4
  out[i] = 2.0f * mass;   // expect-efficiency: 100
}

__global__ void massesOfFloat4(const float4* particles, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 particle = particles[i]; // expect-efficiency: 100 // expect-sectors: 16
  out[i] = particle.w + (particle.x + particle.y + particle.z);
}

int main() {
  std::vector<Particle> particles(kN);
  std::vector<float> masses(kN), fromStructures(kN), fromArray(kN), fromFloat4(kN);
  for (int i = 0; i < kN; ++i) {
    masses[i] = float(i % 100);
    particles[i] = {float(i % 3), float(i % 5), float(i % 7), masses[i]};
  }

  Particle* dparticles;
  float *dmasses, *dout;
  cudaMalloc(&dparticles, kN * sizeof(Particle));
  cudaMalloc(&dmasses, kN * sizeof(float));
  cudaMalloc(&dout, kN * sizeof(float));
  cudaMemcpy(dparticles, particles.data(), kN * sizeof(Particle), cudaMemcpyHostToDevice);
  cudaMemcpy(dmasses, masses.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  massesOfStructures<<<kN / 256, 256>>>(dparticles, dout);
  cudaMemcpy(fromStructures.data(), dout, kN * sizeof(float), cudaMemcpyDeviceToHost);
  massesOfArray<<<kN / 256, 256>>>(dmasses, dout);
  cudaMemcpy(fromArray.data(), dout, kN * sizeof(float), cudaMemcpyDeviceToHost);
  massesOfFloat4<<<kN / 256, 256>>>(reinterpret_cast<const float4*>(dparticles), dout);
  cudaMemcpy(fromFloat4.data(), dout, kN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dparticles);
  cudaFree(dmasses);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) {
    wrong += fromStructures[i] != 2.0f * masses[i];
    wrong += fromArray[i] != 2.0f * masses[i];
    wrong += fromFloat4[i] != masses[i] + (i % 3 + i % 5 + i % 7);
  }
  printf("aos_soa: %d of %d elements wrong\n", wrong, 3 * kN);
  return wrong == 0 ? 0 : 1;
}
