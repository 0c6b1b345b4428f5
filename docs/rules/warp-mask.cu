// Half of a warp adds up, and the mask names all of it.
// launch: sum<<<1, 32>>>(int[32])
__global__ void sum(int* x) {
  int v = x[threadIdx.x];
  if (threadIdx.x < 16) {
    v += __shfl_down_sync(0xffffffff, v, 8); // expect-run: warp-mask
    x[threadIdx.x] = v;
  }
}
