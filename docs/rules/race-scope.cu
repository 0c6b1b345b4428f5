// Every thread counts itself, atomically, but the atomic holds within a block only.
// launch: count<<<4, 64>>>(int[1]=zero)
__global__ void count(int* total) {
  atomicAdd_block(total, 1); // expect: race-scope
}
