#include "flags.h"

#include "random.h"

namespace kcheck::agreement {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kPrelude = R"(#include <cuda/atomic>
#include <cuda_runtime.h>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

)";

class Flags {
public:
  explicit Flags(std::uint64_t seed) : random(seed + 0xf1a9), name("f" + std::to_string(seed)) {}

  std::string kernel() {
    text = "__global__ void " + name +
           "(int* data, int* flag, int* out, int* count) {\n"
           "  __shared__ int word, ready;\n"
           "  int t = threadIdx.x, b = blockIdx.x, w = blockDim.x;\n";
    chooseOrders();
    switch (random.below(8)) {
    case 0: message(); break;
    case 1: chainOfThreads(); break;
    case 2: chainOfBlocks(); break;
    case 3: warps(); break;
    case 4: gridBarrier(); break;
    case 5: lockOfBlock(); break;
    case 6: turns(); break;
    default: lookBack(); break;
    }
    return text + "}\n\n";
  }

private:
  void line(const std::string& what) { text += "  " + what + "\n"; }
  bool slips() { return random.oneIn(9); }

  /// How flags are set and looked at, and what fences there are: of orders none is needed.
  void chooseOrders() {
    byOrders = random.oneIn(4);
    const std::string scope = random.oneIn(9) ? "_block" : "";
    before = byOrders || slips() ? "" : "__threadfence" + scope + "();";
    behind = byOrders || slips() ? "" : "__threadfence();";
  }

  std::string set(const std::string& at, const std::string& value) {
    if (byOrders)
      return "Flag(" + at + ").store(" + value + ", cuda::memory_order_" + (slips() ? "relaxed" : "release") +
             ");";
    return before + " " +
           random.of<std::string>(
               {"*(volatile int*)&" + at + " = " + value + ";", "atomicExch(&" + at + ", " + value + ");"});
  }
  std::string look(const std::string& at) {
    if (byOrders)
      return "Flag(" + at + ").load(cuda::memory_order_" + (slips() ? "relaxed" : "acquire") + ")";
    return random.of<std::string>(
        {"*(volatile int*)&" + at, "atomicAdd(&" + at + ", 0)", "atomicCAS(&" + at + ", 0, 0)"});
  }
  std::string wait(const std::string& at) {
    return "while (" + look(at) + random.of<std::string>({" == 0", " != 1", " < 1"}) + ") {} " + behind;
  }
  /// A statement, and another one behind it; now and then the other way round.
  void inOrder(const std::string& first, const std::string& second) {
    const bool turned = slips();
    line(turned ? second : first);
    line(turned ? first : second);
  }
  void separate() {
    if (!slips()) line("__syncthreads();");
  }

  void message() {
    line("if (t != 0) return;");
    line("if (b == 0) {");
    inOrder("data[0] = 42;", set("flag[0]", "1"));
    line("} else {");
    line(random.oneIn(4) ? "if (" + look("flag[0]") + " == 1) { " + behind + " out[b] = data[0]; }"
                         : wait("flag[0]") + " out[b] = data[0];");
    line("}");
  }

  void chainOfThreads() {
    line("if (t != " + random.of<std::string>({"0", "0", "w - 1"}) + ") return;");
    const std::string from = random.of<std::string>({"b - 1", "b - 1", "b - 1", "b / 2", "0"});
    line("int sum = 0;");
    line("if (b > 0) { " + wait("flag[" + from + "]") + " sum = data[" +
         random.of<std::string>({from, from, "b - 1"}) + "]; }");
    inOrder("data[b] = sum + b;", set("flag[b]", "1"));
  }

  void chainOfBlocks() {
    line("if (t == 0 && b > 0) { " + wait("flag[b - 1]") + " }");
    separate();
    line("int v = b > 0 ? data[(b - 1) * w + " + random.of<std::string>({"t", "(t ^ 1)", "w - 1 - t"}) +
         "] : t;");
    line("data[" + random.of<std::string>({"b * w + t", "b * w + t", "b * w + (t ^ 1)"}) + "] = v + 1;");
    separate();
    line("if (t == " + random.of<std::string>({"0", "0", "w - 1"}) + ") { " + set("flag[b]", "1") + " }");
  }

  void warps() {
    line("if (t == 0) ready = 0;");
    line("__syncthreads();");
    line("if (t == 0) {");
    inOrder("word = b;", set("ready", "1"));
    line("} else if (t >= 32) {");
    line(wait("ready") + " out[b * w + t] = word;");
    line("}");
  }

  void gridBarrier() {
    line("data[b * w + t] = t;");
    if (random.oneIn(2)) line(before);
    separate();
    const std::string who = random.oneIn(8) ? "true" : "t == 0";
    line("if (" + who + ") {");
    if (!slips()) line(byOrders ? "__threadfence();" : before);
    line("  atomicAdd(count, 1);");
    line("  while (" + random.of<std::string>({"atomicAdd(count, 0)", "*(volatile int*)count"}) +
         random.of<std::string>({" < gridDim.x", " < gridDim.x", " != gridDim.x", " < gridDim.x - 1"}) +
         ") {}");
    if (!slips()) line("  __threadfence();");
    line("}");
    separate();
    line("out[b * w + t] = data[(gridDim.x - 1 - b) * w + t];");
  }

  void lockOfBlock() {
    const std::string one = random.of<std::string>({"0", "0", "w - 1"}),
                      at = random.of<std::string>({"flag[0]", "flag[0]", "flag[b & 1]"});
    const bool again = random.oneIn(3);
    if (again) line("for (int round = 0; round < 2; round++) {");
    line("if (t == " + one + ") { " + take(at) + " }");
    separate();
    line("data[" + random.of<std::string>({"t", "t", "(b & 1) * w + t", "b * w + t", "w - 1 - t"}) +
         "] += b;");
    if (random.oneIn(3)) line(before);
    separate();
    const bool counts = random.oneIn(3);
    line("if (t == " + (slips() ? "1" : one) + ") { " + (counts ? "out[0] += 1; " : "") + set(at, "0") +
         " }");
    if (again) line("}");
  }
  void turns() {
    const std::string bin = random.of<std::string>({"0", "0", "b & 1"});
    line("if (t != 0) return;");
    line("int mine = atomicAdd(&count[" + (slips() ? "b & 1" : bin) + "], 1);");
    line("while (" + look("flag[" + bin + "]") + (slips() ? " < mine) {} " : " != mine) {} ") + behind);
    inOrder("data[" + random.of<std::string>({bin, bin, "b"}) + "] += b;",
            random.oneIn(2) ? set("flag[" + bin + "]", "mine + 1")
                            : before + " atomicAdd(&flag[" + bin + "], 1);");
  }

  std::string take(const std::string& at) {
    if (byOrders)
      return "while (Flag(" + at + ").exchange(1, cuda::memory_order_" + (slips() ? "relaxed" : "acquire") +
             ") != 0) {}";
    return "while (" +
           random.of<std::string>({"atomicCAS(&" + at + ", 0, 1)", "atomicExch(&" + at + ", 1)"}) +
           " != 0) {} " + behind;
  }

  void lookBack() {
    line("if (t != 0) return;");
    inOrder("data[b] = b;", set("flag[b]", "1"));
    line("int sum = 0;");
    line("for (int p = b - 1; p >= 0; p--) {");
    line("  int s; do { s = " + look("flag[p]") + "; } while (s == 0); " + behind);
    line("  if (s == " + random.of<std::string>({"2", "2", "2", "1"}) + ") { sum += data[64 + p]; break; }");
    line("  sum += data[p];");
    line("}");
    inOrder("data[64 + b] = sum + b;", set("flag[b]", "2"));
  }

  Random random;
  std::string name, text, before, behind;
  bool byOrders = false;
};

} // namespace

std::string flagKernelOf(std::uint64_t seed) { return Flags(seed).kernel(); }

std::string flagProgramOf(std::uint64_t first, unsigned count) {
  std::string kernels = kPrelude, launches;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    kernels += flagKernelOf(seed);
    launches += "  cudaMemset(flag, 0, 1024); cudaMemset(count, 0, 8);\n  f" + std::to_string(seed) +
                "<<<4, 64>>>(data, flag, out, count);\n";
  }
  return kernels + "int main() {\n  int *data, *flag, *out, *count;\n  cudaMalloc(&data, 1024);\n" +
         "  cudaMalloc(&flag, 1024);\n  cudaMalloc(&out, 1024);\n  cudaMalloc(&count, 8);\n" +
         "  cudaMemset(data, 0, 1024);\n" + launches + "  cudaDeviceSynchronize();\n}\n";
}

} // namespace kcheck::agreement
