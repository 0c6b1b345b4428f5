// Each lane of a warp hands its value to the lane on its left.
// launch: rotate<<<1, 32>>>(int[32]=iota)
__global__ void rotate(int* x) {
  __shared__ int s[32];
  int lane = threadIdx.x;
  s[lane] = x[lane]; // expect: race-warp
  x[lane] = s[(lane + 1) % 32];
}
