// Each block reverses its 256 elements through shared memory.
// launch: reverse<<<4, 256>>>(int[1024]=uninitialized, int[1024]=iota)
__global__ void reverse(int* out, const int* in) {
  __shared__ int tile[256];
  int first = blockIdx.x * 256;
  tile[threadIdx.x] = in[first + threadIdx.x]; // expect: race-shared
  out[first + threadIdx.x] = tile[255 - threadIdx.x];
}
