// Rays and hits that live in each thread and go by reference to virtual functions: local memory, which a GPU
// interleaves, so that nothing here is uncoalesced.
#include <cstdio>

struct Ray {
  float origin[3], direction[3];
};
struct Hit {
  float at, where[3];
};

struct Shape {
  __device__ virtual bool hit(const Ray& ray, float most, Hit& hit) const = 0;
};

struct Plane : Shape {
  float height;
  __device__ explicit Plane(float height) : height(height) {}
  __device__ bool hit(const Ray& ray, float most, Hit& hit) const override {
    float at = (height - ray.origin[1]) / ray.direction[1];
    if (at <= 0 || at >= most) return false;
    hit.at = at;
    for (int i = 0; i < 3; ++i) hit.where[i] = ray.origin[i] + at * ray.direction[i];
    return true;
  }
};

struct Wall : Shape {
  __device__ bool hit(const Ray& ray, float most, Hit& hit) const override {
    float at = (10 - ray.origin[0]) / ray.direction[0];
    if (at <= 0 || at >= most) return false;
    hit.at = at;
    for (int i = 0; i < 3; ++i) hit.where[i] = ray.origin[i] + at * ray.direction[i];
    return true;
  }
};

__global__ void build(Shape** shapes) {
  shapes[0] = new Plane(-1);
  shapes[1] = new Wall;
}

__global__ void trace(Shape** shapes, float* image, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int hits;
  if (threadIdx.x == 0) hits = 0;
  Ray ray = {{0, 1, 0}, {0.01f * i, -0.5f, 1}};
  float most = 1000;
  for (int bounce = 0; bounce < 8; ++bounce) {
    Hit hit = {most, {0, 0, 0}};
    for (int shape = 0; shape < 2; ++shape)
      if (shapes[shape]->hit(ray, hit.at, hit)) ray.origin[2] += hit.where[2];
    most = hit.at + 1;
    __syncthreads();
    if (threadIdx.x == 0 && hit.at < 900) ++hits;
  }
  __syncthreads();
  if (i < n) image[i] = ray.origin[2] + hits;
}

__global__ void tearDown(Shape** shapes) {
  delete static_cast<Plane*>(shapes[0]);
  delete static_cast<Wall*>(shapes[1]);
}

int main() {
  const int n = 4096;
  Shape** shapes;
  float* image;
  cudaMalloc(&shapes, 2 * sizeof(Shape*));
  cudaMalloc(&image, n * sizeof(float));
  build<<<1, 1>>>(shapes);
  trace<<<n / 128, 128>>>(shapes, image, n);
  tearDown<<<1, 1>>>(shapes);
  float first;
  cudaMemcpy(&first, image, sizeof first, cudaMemcpyDeviceToHost);
  bool right = cudaGetLastError() == cudaSuccess && first > 0;
  std::printf("local objects: %s\n", right ? "right" : "wrong");
  cudaFree(image);
  cudaFree(shapes);
  return right ? 0 : 1;
}
