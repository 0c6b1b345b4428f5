// A kernel that leaves its array, and then a host program that ends in the way its argument names.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <new>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

__global__ void fill(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

static void CUDART_CB leave(void*) { std::exit(0); }

static int deeper(volatile char* above) {
  volatile char here[4096];
  here[0] = *above;
  return deeper(here) + here[0];
}

int main(int, char** arguments) {
  std::string how = arguments[1];
  int* out;
  cudaMalloc(&out, 63 * sizeof(int));
  fill<<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);

  if (how == "crash") *reinterpret_cast<volatile int*>(8) = 1;
  if (how == "abort") std::abort();
  if (how == "exit-in-callback") {
    cudaLaunchHostFunc(nullptr, leave, nullptr);
    cudaDeviceSynchronize();
  }
  if (how == "fork" && fork() == 0)
    while (true) pause();
  if (how == "fork-and-end" && fork() == 0) return 0;
  if (how == "print") {
    std::string line(1 << 20, 'x');
    for (int i = 0; i < 200; ++i) std::fwrite(line.data(), 1, line.size(), stdout);
  }
  if (how == "recurse") {
    volatile char start = 0;
    return deeper(&start);
  }
  if (how == "memory") {
    while (true) std::memset(new char[std::size_t{1} << 44], 1, 4096);
  }
  if (how == "heap") {
    char* small = static_cast<char*>(std::malloc(24));
    std::memset(small, 0x41, 100'000);
    std::free(small);
    std::free(std::malloc(5000));
  }
  if (how == "terminate") raise(SIGTERM);
  if (how == "kill") raise(SIGKILL);
  if (how == "interrupt") raise(SIGINT);
  if (how == "close") {
    std::fclose(stdout);
    close(1);
    close(2);
  }
  if (how == "away" && chdir("/") != 0) return 9;
  if (how == "wait" || how == "wait-too")
    for (;;) pause();
  if (how == "leave") _exit(0);
  return 0;
}
