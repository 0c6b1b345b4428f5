// All data are floats, all literals are doubles.
// launch: normal<<<32, 128>>>(float[4096]=uninitialized, float[4096])
__global__ void normal(float* out, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = exp(-0.5 * x[i] * x[i]) / sqrt(2.0 * 3.14159265); // expect-static: wide-arithmetic
}
