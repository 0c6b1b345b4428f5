// Four floats at once, from one element too far.
// launch: copy<<<1, 32>>>(float4[32]=uninitialized, float[132])
__global__ void copy(float4* out, const float* in) {
  const float4* four = (const float4*)(in + 1);
  out[threadIdx.x] = four[threadIdx.x]; // expect: misaligned
}
