// Its kernel is its own, and right; the other file has one of the same name.
void other(int* a);

static __global__ void fill(int* a) { a[threadIdx.x] = 1; }

int main() {
  int* a;
  cudaMalloc(&a, 64 * sizeof(int));
  fill<<<1, 64>>>(a);
  other(a);
  cudaDeviceSynchronize();
  cudaFree(a);
}
