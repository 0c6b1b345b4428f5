// Every thread adds to one sum.
// launch: sum<<<256, 128>>>(float[1]=zero, float[32768])
__global__ void sum(float* total, const float* x) {
  atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x]); // expect-run: atomic-contention
}
