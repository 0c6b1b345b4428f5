// A lock that is not given back on one path.
// launch: add<<<8, 32>>>(int[1]=zero, int[1]=zero, int[8]=iota)
__global__ void add(int* lock, int* sum, const int* x) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) continue; // expect-run: hang
  __threadfence();
  if (x[blockIdx.x] == 3) return; // takes the lock along
  *sum += x[blockIdx.x];
  __threadfence();
  atomicExch(lock, 0);
}
