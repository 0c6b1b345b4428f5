// Texture objects over arrays, linear and pitched memory; filters and address modes as kernels see them.
#include "check.h"

__global__ void read2D(cudaTextureObject_t texture, float* out, int width, int height) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}
__global__ void readBetween(cudaTextureObject_t texture, float* out) { out[0] = tex2D<float>(texture, 1.0f, 1.0f); }
__global__ void readLinear(cudaTextureObject_t texture, int4* out) {
  out[threadIdx.x] = tex1Dfetch<int4>(texture, int(threadIdx.x));
}
__global__ void read3D(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex3D<float>(texture, threadIdx.x % 2 + 0.5f, threadIdx.x / 2 % 2 + 0.5f, threadIdx.x / 4 + 0.5f);
}

int main() {
  const int width = 8, height = 4;
  float image[height][width], back[height * width], *out;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image[y][x] = float(10 * y + x);
  OK(cudaMalloc(&out, sizeof back));

  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  OK(cudaMallocArray(&array, &format, width, height));
  OK(cudaMemcpy2DToArray(array, 0, 0, image, sizeof image[0], sizeof image[0], height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  read2D<<<1, dim3(width, height)>>>(texture, out, width, height);
  OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; ++i) CHECK(back[i] == image[i / width][i % width]);
  readBetween<<<1, 1>>>(texture, out);
  OK(cudaMemcpy(back, out, sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(back[0] == 5.5f);
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFreeArray(array));

  int4 quads[4], got[4], *device, *result;
  for (int i = 0; i < 4; ++i) quads[i] = make_int4(i, -i, 10 * i, 7);
  OK(cudaMalloc(&device, sizeof quads));
  OK(cudaMalloc(&result, sizeof quads));
  OK(cudaMemcpy(device, quads, sizeof quads, cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = device;
  resource.res.linear.desc = cudaCreateChannelDesc<int4>();
  resource.res.linear.sizeInBytes = sizeof quads;
  how = {};
  OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  readLinear<<<1, 4>>>(texture, result);
  OK(cudaMemcpy(got, result, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) CHECK(got[i].x == i && got[i].y == -i && got[i].z == 10 * i && got[i].w == 7);
  OK(cudaDestroyTextureObject(texture));

  float cube[8];
  for (int i = 0; i < 8; ++i) cube[i] = float(i * i);
  OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 2, 2)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(cube, 2 * sizeof(float), 2, 2);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(2, 2, 2);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  how = {};
  OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  read3D<<<1, 8>>>(texture, out);
  OK(cudaMemcpy(back, out, sizeof cube, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) CHECK(back[i] == cube[i]);
  OK(cudaDestroyTextureObject(texture));
  OK(cudaFreeArray(array));
  OK(cudaFree(out));
  OK(cudaFree(device));
  OK(cudaFree(result));
  std::printf("PASS\n");
}
