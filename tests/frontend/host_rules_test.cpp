// Rules about host code and the text of kernels: each pattern is found once, at its place, and its right twin
// stays quiet.
#include "compile_source.h"

namespace kcheck::frontend {
namespace {

/// `rule@line` of each finding.
std::string findingsIn(const std::string& text) {
  Options options;
  options.wantHost = false;
  auto program = compileSource("#include <chrono>\n#include <vector>\n#include <memory>\n" // lines 1 to 3
                               "__global__ void k(float* a, int n) {}\n" +
                                   text,
                               options);
  if (!program) return "error: " + program.error().message;
  std::string all;
  for (const Finding& finding : program->findings)
    all += finding.rule + "@" + std::to_string(finding.where.line) + " ";
  return all;
}

const char* const kNow =
    "double now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }\n";

TEST(HostRules, ClockAroundALaunch) {
  EXPECT_EQ(findingsIn("int main() {\n"
                       "  auto t0 = std::chrono::steady_clock::now();\n"
                       "  k<<<1, 32>>>(nullptr, 0);\n"
                       "  auto t1 = std::chrono::steady_clock::now();\n"
                       "}\n"),
            "unsynchronized-timing@8 ");
  EXPECT_EQ(findingsIn("int main() {\n"
                       "  auto t0 = std::chrono::steady_clock::now();\n"
                       "  k<<<1, 32>>>(nullptr, 0);\n"
                       "  cudaDeviceSynchronize();\n"
                       "  auto t1 = std::chrono::steady_clock::now();\n"
                       "}\n"),
            "");
}

TEST(HostRules, ClockAroundALibraryCall) {
  const std::string head = "#include <cufft.h>\n" + std::string(kNow) +
                           "void transform(cufftHandle plan, cufftComplex* x) {\n"
                           "  double t0 = now();\n"
                           "  cufftExecC2C(plan, x, x, CUFFT_FORWARD);\n";
  EXPECT_EQ(findingsIn(head + "  double t1 = now() - t0;\n}\n"), "unsynchronized-timing@10 ");
  EXPECT_EQ(findingsIn(head + "  cudaDeviceSynchronize();\n  double t1 = now() - t0;\n}\n"), "");
  EXPECT_EQ(findingsIn(head + "  cufftDestroy(plan);\n  double t1 = now() - t0;\n}\n"), "");
}

TEST(HostRules, ClockInAHelperAndAWaitInAnother) {
  EXPECT_EQ(findingsIn(std::string(kNow) + "void run() { k<<<1, 32>>>(nullptr, 0); }\n"
                                           "int main() {\n"
                                           "  double t0 = now();\n"
                                           "  for (int i = 0; i < 10; ++i) run();\n"
                                           "  double t1 = now() - t0;\n"
                                           "}\n"),
            "unsynchronized-timing@10 ");
  EXPECT_EQ(findingsIn(std::string(kNow) +
                       "void run() { k<<<1, 32>>>(nullptr, 0); if (cudaDeviceSynchronize()) throw 1; }\n"
                       "int main() {\n"
                       "  double t0 = now();\n"
                       "  run();\n"
                       "  double t1 = now() - t0;\n"
                       "}\n"),
            "");
}

TEST(HostRules, TheTimeOfTheLaunchAloneMayBeMeant) {
  EXPECT_EQ(findingsIn(std::string(kNow) + "int main() {\n"
                                           "  double t0 = now();\n"
                                           "  k<<<1, 32>>>(nullptr, 0);\n"
                                           "  double launched = now() - t0;\n"
                                           "  cudaDeviceSynchronize();\n"
                                           "  double done = now() - t0;\n"
                                           "}\n"),
            "");
}

TEST(HostRules, EventsMustHaveHappened) {
  const std::string head = "int main() {\n"
                           "  cudaEvent_t a, b;\n"
                           "  float ms;\n"
                           "  cudaEventRecord(a);\n"
                           "  k<<<1, 32>>>(nullptr, 0);\n"
                           "  cudaEventRecord(b);\n";
  EXPECT_EQ(findingsIn(head + "  cudaEventElapsedTime(&ms, a, b);\n}\n"), "unsynchronized-timing@11 ");
  EXPECT_EQ(findingsIn(head + "  cudaEventSynchronize(b);\n  cudaEventElapsedTime(&ms, a, b);\n}\n"), "");
}

std::string roundTrip(const std::string& between, const std::string& target = "d") {
  return findingsIn("int main() {\n"
                    "  std::vector<float> h(100);\n"
                    "  float *d, *e;\n"
                    "  k<<<1, 32>>>(d, 0);\n"
                    "  cudaMemcpy(h.data(), d, h.size() * 4, cudaMemcpyDeviceToHost);\n" +
                    between + "  cudaMemcpy(" + target +
                    ", h.data(), h.size() * 4, cudaMemcpyHostToDevice);\n"
                    "  k<<<1, 32>>>(d, 0);\n"
                    "}\n");
}

TEST(HostRules, RoundTripsOfUntouchedData) {
  EXPECT_EQ(roundTrip(""), "redundant-transfer@10 ");
  EXPECT_EQ(roundTrip("", "e"), "redundant-transfer@10 ");
  EXPECT_EQ(roundTrip("  for (float& x : h) x += 1;\n"), "");
  EXPECT_EQ(roundTrip("  cudaSetDevice(1);\n"), "");
  EXPECT_EQ(roundTrip("  h[3] = 4;\n"), "");
  // what the device has meanwhile changed is put back
  EXPECT_EQ(roundTrip("  k<<<1, 32>>>(d, 0);\n"), "");
  EXPECT_EQ(roundTrip("  k<<<1, 32>>>(e, 0);\n"), "redundant-transfer@11 ");
}

TEST(HostRules, RoundTripsOnOnePathOnly) {
  EXPECT_EQ(findingsIn("int main(int argc, char**) {\n"
                       "  float h[10], *d;\n"
                       "  k<<<1, 32>>>(d, 0);\n"
                       "  if (argc > 1) cudaMemcpy(h, d, 40, cudaMemcpyDeviceToHost);\n"
                       "  cudaMemcpy(d, h, 40, cudaMemcpyHostToDevice);\n"
                       "  k<<<1, 32>>>(d, 0);\n"
                       "}\n"),
            "");
}

TEST(HostRules, AsynchronousCopiesOfPageableMemory) {
  EXPECT_EQ(
      findingsIn("int main() {\n"
                 "  std::vector<float> v(10);\n"
                 "  float *d, array[10], *heap = new float[10], *pinned, *registered = new float[10];\n"
                 "  cudaMallocHost(&pinned, 40);\n"
                 "  cudaHostRegister(registered, 40, 0);\n"
                 "  cudaMemcpyAsync(d, v.data(), 40, cudaMemcpyHostToDevice);\n"
                 "  cudaMemcpyAsync(array, d, 40, cudaMemcpyDeviceToHost);\n"
                 "  cudaMemcpyAsync(heap, d, 40, cudaMemcpyDeviceToHost);\n"
                 "  cudaMemcpyAsync(pinned, d, 40, cudaMemcpyDeviceToHost);\n"
                 "  cudaMemcpyAsync(registered, d, 40, cudaMemcpyDeviceToHost);\n"
                 "}\n"
                 "void copy(float* h, float* d) { cudaMemcpyAsync(h, d, 40, cudaMemcpyDeviceToHost); }\n"),
      "pageable-async@10 pageable-async@11 pageable-async@12 ");
}

std::string inKernel(const std::string& statement) {
  return findingsIn("__global__ void w(float* a, float x, double y) {\n  " + statement + "\n}\n");
}

TEST(HostRules, DoublesAmongFloats) {
  EXPECT_EQ(inKernel("a[0] = 0.5 * x;"), "wide-arithmetic@6 ");
  EXPECT_EQ(inKernel("a[0] *= 2.0;"), "wide-arithmetic@6 ");
  EXPECT_EQ(inKernel("float z = x * x / 3.0 + 1.0; a[0] = z;"), "wide-arithmetic@6 ");
  EXPECT_EQ(inKernel("a[0] = 0.5f * x;"), "");
  EXPECT_EQ(inKernel("a[0] = 0.5;"), "");                     // folded by the compiler
  EXPECT_EQ(inKernel("a[0] = float(0.5 * double(x));"), "");  // as the programmer says
  EXPECT_EQ(inKernel("double s = 0; s += x; a[0] = s;"), ""); // a sum in double
  EXPECT_EQ(inKernel("a[0] = x * y;"), "");
  EXPECT_EQ(findingsIn("float host(float x) { return 0.5 * x; }\n"), ""); // not on the device
}

TEST(HostRules, LaunchesThatFailUnseen) {
  EXPECT_EQ(findingsIn("int main() { k<<<1, 2048>>>(nullptr, 0); }\n"), "unchecked-error@5 ");
  EXPECT_EQ(findingsIn("int main() { k<<<1, 2048>>>(nullptr, 0); return cudaGetLastError(); }\n"), "");
  EXPECT_EQ(findingsIn("int main() { k<<<1, 1024>>>(nullptr, 0); }\n"), "");
}

} // namespace
} // namespace kcheck::frontend
