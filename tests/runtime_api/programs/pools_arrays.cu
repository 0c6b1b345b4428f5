// Stream-ordered allocation, pools, 3-D copies with positions, arrays copied to arrays.
// expect-report: no findings
#include "check.h"

__global__ void iota(int* data, int from) { data[threadIdx.x] = from + int(threadIdx.x); }

int main() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int *first, *second, host[64];
  OK(cudaMallocAsync(&first, sizeof host, stream));
  iota<<<1, 64, 0, stream>>>(first, 5);
  OK(cudaMemcpyAsync(host, first, sizeof host, cudaMemcpyDeviceToHost, stream));
  OK(cudaFreeAsync(first, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(host[63] == 68);

  cudaMemPool_t pool, standard;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemPoolCreate(&pool, &properties));
  unsigned long long threshold = 1 << 20, read = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
  CHECK(read == threshold);
  OK(cudaMallocFromPoolAsync(&second, sizeof host, pool, stream));
  iota<<<1, 64, 0, stream>>>(second, 1);
  OK(cudaStreamSynchronize(stream));
  OK(cudaFreeAsync(second, stream));
  OK(cudaMemPoolDestroy(pool));
  OK(cudaDeviceGetDefaultMemPool(&standard, 0));
  CHECK(standard != nullptr);
  OK(cudaStreamDestroy(stream));

  // A box of 2 x 2 x 2 from the middle of a 4 x 3 x 3 host volume into a pitched one at (1,0,1).
  float from[3][3][4], back[3][2][4] = {};
  for (int i = 0; i < 36; ++i) (&from[0][0][0])[i] = float(i);
  cudaPitchedPtr volume;
  OK(cudaMalloc3D(&volume, make_cudaExtent(4 * sizeof(float), 2, 3)));
  OK(cudaMemset3D(volume, 0, make_cudaExtent(4 * sizeof(float), 2, 3)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(from, 4 * sizeof(float), 4, 3);
  copy.srcPos = make_cudaPos(1 * sizeof(float), 1, 1);
  copy.dstPtr = volume;
  copy.dstPos = make_cudaPos(1 * sizeof(float), 0, 1);
  copy.extent = make_cudaExtent(2 * sizeof(float), 2, 2);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  cudaMemcpy3DParms out = {};
  out.srcPtr = volume;
  out.dstPtr = make_cudaPitchedPtr(back, 4 * sizeof(float), 4, 2);
  out.extent = make_cudaExtent(4 * sizeof(float), 2, 3);
  out.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&out));
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 4; ++x) {
        bool inside = z >= 1 && x >= 1 && x <= 2;
        CHECK(back[z][y][x] == (inside ? from[z][y + 1][x] : 0));
      }
  OK(cudaFree(volume.ptr));

  cudaArray_t a, b;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  OK(cudaMallocArray(&a, &format, 4, 2));
  OK(cudaMallocArray(&b, &format, 4, 2));
  float2 plane[2][4], got[2][2];
  for (int i = 0; i < 8; ++i) (&plane[0][0])[i] = make_float2(float(i), float(-i));
  OK(cudaMemcpy2DToArray(a, 0, 0, plane, sizeof plane[0], sizeof plane[0], 2, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, sizeof plane[0], 2, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy2DFromArray(got, sizeof got[0], b, 2 * sizeof(float2), 0, sizeof got[0], 2, cudaMemcpyDeviceToHost));
  CHECK(got[1][1].x == 7 && got[1][1].y == -7 && got[0][0].x == 2);
  cudaExtent extent;
  unsigned flags;
  OK(cudaArrayGetInfo(&format, &extent, &flags, a));
  CHECK(extent.width == 4 && extent.height == 2 && format.x == 32 && format.y == 32 && format.z == 0);
  CHECK(cudaMemcpy2DToArray(a, 8, 0, plane, sizeof plane[0], sizeof plane[0], 2, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  cudaGetLastError();
  OK(cudaFreeArray(a));
  OK(cudaFreeArray(b));
  std::printf("PASS\n");
}
