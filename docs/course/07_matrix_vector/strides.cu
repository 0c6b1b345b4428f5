// One warp after another loads every first, second, fourth, eighth, 32nd float.
// launch: every1<<<8, 128>>>(float[1024]=uninitialized, float[1024])
// launch: every2<<<8, 128>>>(float[1024]=uninitialized, float[2048])
// launch: every4<<<8, 128>>>(float[1024]=uninitialized, float[4096])
// launch: every8<<<8, 128>>>(float[1024]=uninitialized, float[8192])
// launch: every32<<<8, 128>>>(float[1024]=uninitialized, float[32768])
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x
__global__ void every1(float* out, const float* a) {
  INDEX;
  float value = a[i]; // expect-efficiency: 100 // expect-sectors: 4
  out[i] = value;
}
__global__ void every2(float* out, const float* a) {
  INDEX;
  float value = a[2 * i]; // expect-efficiency: 50 // expect-sectors: 8
  out[i] = value;
}
__global__ void every4(float* out, const float* a) {
  INDEX;
  float value = a[4 * i]; // expect-efficiency: 25 // expect-sectors: 16 // expect: uncoalesced
  out[i] = value;
}
__global__ void every8(float* out, const float* a) {
  INDEX;
  float value = a[8 * i]; // expect-efficiency: 12.5 // expect-sectors: 32 // expect: uncoalesced
  out[i] = value;
}
__global__ void every32(float* out, const float* a) {
  INDEX;
  float value = a[32 * i]; // expect-efficiency: 12.5 // expect-sectors: 32 // expect: uncoalesced
  out[i] = value;
}
