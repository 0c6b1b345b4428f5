// One thread per row: neighbouring threads are a whole row apart.
// launch: rowSums<<<4, 256>>>(float[1024]=uninitialized, float[262144], 256)
__global__ void rowSums(float* out, const float* a, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k]; // expect: uncoalesced
  out[row] = sum;
}
