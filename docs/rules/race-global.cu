// Every thread counts itself.
// launch: count<<<4, 64>>>(int[1]=zero)
__global__ void count(int* c) {
  c[0] += 1; // expect: race-global
}
