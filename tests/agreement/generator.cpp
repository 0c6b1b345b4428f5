#include "generator.h"

#include "random.h"

#include <initializer_list>

namespace kcheck::agreement {
namespace {

class Generator {
public:
  explicit Generator(std::uint64_t seed) : random(seed), name("k" + std::to_string(seed)) {}

  std::string kernel() {
    text = "__global__ void " + name + "(int* out, int* data, const int* in, int n) {\n" +
           "  __shared__ int s[64], u[64];\n  int t = threadIdx.x, b = blockIdx.x;\n" +
           "  int x = " + term() + ";\n  int *p = s, *q = u;\n";
    own = random.of<std::string>({"t", "t", "63 - t", "t ^ 1", "(t + 5)"});
    unsigned count = 2 + random.below(4);
    for (unsigned i = 0; i < count; ++i) statement(2, true);
    return text + "}\n\n";
  }

private:
  std::string number(unsigned limit) { return std::to_string(random.below(limit)); }
  std::string small() {
    return random.of<std::string>({"1", "2", "3", "4", "5", "7", "8", "16", "31", "32", "33"});
  }

  std::string term() {
    switch (random.below(12)) {
    case 0: return "b";
    case 1: return "n";
    case 2: return number(64);
    case 3:
    case 4: return loops.empty() ? "t" : random.of(loops);
    default: return "t";
    }
  }

  std::string index(unsigned depth = 2) {
    if (depth == 0 || random.oneIn(3)) return term();
    std::string a = index(depth - 1);
    switch (random.below(16)) {
    case 0: return "(" + a + " + " + small() + ")";
    case 1: return "(" + number(64) + " - " + a + ")";
    case 2: return "(" + a + " ^ " + small() + ")";
    case 3: return "(" + a + " * " + small() + ")";
    case 4: return "(" + a + " / " + small() + ")";
    case 5: return "(" + a + " % " + small() + ")";
    case 6: return "(" + a + " & " + number(64) + ")";
    case 7: return "(" + a + " | " + small() + ")";
    case 8: return "(" + a + " >> " + std::to_string(1 + random.below(4)) + ")";
    case 9: return "(" + a + " << " + std::to_string(1 + random.below(4)) + ")";
    case 10: return "(unsigned char)(" + a + " * " + small() + ")";
    case 11: return "(short)(" + a + " * " + std::to_string(1024 << random.below(4)) + ")";
    case 12: return "(" + guard() + " ? " + a + " : " + index(depth - 1) + ")";
    case 13: return "((" + a + " & " + number(64) + ") << 1 | (t & 1))";
    default: return "(" + a + " + " + index(depth - 1) + ")";
    }
  }

  std::string guard() {
    std::string a = random.oneIn(3) ? index(1) : term();
    switch (random.below(8)) {
    case 0: return a + " == " + number(64);
    case 1: return a + " % " + small() + " == 0";
    case 2: return "(" + a + " & " + small() + ") != 0";
    case 3: return a + " > " + number(64);
    case 4: return "b == " + number(2);
    case 5: return "t < n * " + small();
    default: return a + " < " + number(64);
    }
  }

  std::string uniformGuard() {
    return random.of<std::string>({"n > 3", "n > 7", "b == 0", "b == 1", "n % 2 == 1"});
  }

  /// A place to access; mostly the thread's own, so that there is something to prove.
  std::string place() {
    std::string at = random.oneIn(8) ? index() : own;
    switch (random.below(16)) {
    case 0:
    case 1:
    case 2:
    case 3: return "s[(" + at + ") & 63]";
    case 4:
    case 5:
    case 6: return "u[(" + at + ") & 63]";
    case 7: return random.oneIn(3) ? "p[(" + at + ") & 63]" : "u[(" + at + ") & 63]";
    case 8: return random.oneIn(3) ? "((char*)s)[(" + at + ") & 255]" : "s[(" + at + ") & 63]";
    case 9: return random.oneIn(3) ? "((short*)u)[(" + at + ") & 127]" : "u[(" + at + ") & 63]";
    case 10: return random.oneIn(4) ? "data[(" + at + ") & 255]" : "data[b * 64 + ((" + at + ") & 63)]";
    case 11:
      return random.oneIn(4) ? "out[(" + at + ") * 2 & 511]" : "out[b * 128 + 256 + ((" + at + ") & 63) * 2]";
    default: return "out[b * 64 + ((" + at + ") & 63)]";
    }
  }

  void line(const std::string& what) { text += std::string(2 * indent, ' ') + what + "\n"; }

  void block(unsigned depth, bool uniform, unsigned most) {
    ++indent;
    unsigned count = 1 + random.below(most);
    for (unsigned i = 0; i < count; ++i) statement(depth, uniform);
    --indent;
  }

  void loop(unsigned depth, bool uniform) {
    std::string i(1, char('i' + loops.size()));
    std::string bound = std::to_string(1 + random.below(5));
    std::vector<std::string> heads = {"for (int I = 0; I < " + bound + "; ++I) {",
                                      "for (int I = 1; I < 64; I *= 2) {",
                                      "for (int I = 32; I > 0; I >>= 1) {", "for (int I = n; I > 0; --I) {",
                                      "for (int I = 0; I < n; I += 2) {"};
    if (!uniform || random.oneIn(3)) {
      uniform = false;
      heads = {"for (int I = t; I < 256; I += 64) {", "for (int I = t; I > 0; I /= 2) {",
               "for (int I = 0; I <= t % 4; ++I) {"};
    }
    std::string head = random.of(heads);
    for (std::size_t at; (at = head.find('I')) != std::string::npos;) head.replace(at, 1, i);
    line(head);
    loops.push_back(i);
    block(depth - 1, uniform, 3);
    if (!uniform && random.oneIn(4)) line("  if (" + guard() + ") continue;"), block(0, false, 1);
    loops.pop_back();
    line("}");
  }

  void statement(unsigned depth, bool uniform) {
    unsigned kind = random.below(depth ? 16 : 10);
    switch (kind) {
    case 0:
    case 1: return line(place() + " = " + random.of<std::string>({"t", "t + b * 64", "x", "in[t]"}) + ";");
    case 2: return line(place() + " += 1 + t;");
    case 3: return line(place() + " = " + place() + " + t;");
    case 4:
      return line("atomicAdd" + std::string(random.oneIn(4) ? "_block" : "") + "(&" +
                  random.of<std::string>({"s", "u", "data", "out"}) + "[(" + index() + ") & 63], 1);");
    case 5:
      return line("x " + random.of<std::string>({"+= 1", "*= 2", "^= 5", "/= 2", "+= t", "= 63 - x"}) + ";");
    case 6:
      if (uniform) return line("{ int* r = p; p = q; q = r; }");
      return line(place() + " = t;");
    case 7: return line(uniform && random.oneIn(2) ? "__syncwarp();" : place() + " = 2 * t + 1;");
    case 8:
    case 9:
    case 10: return line(uniform ? "__syncthreads();" : place() + " = t;");
    case 11:
    case 12: return loop(depth, uniform);
    default: {
      bool both = uniform && random.oneIn(3);
      line("if (" + (both ? uniformGuard() : guard()) + ") {");
      block(depth - 1, both, 3);
      if (random.oneIn(3)) line("} else {"), block(depth - 1, both, 2);
      line("}");
    }
    }
  }

  Random random;
  std::string name, text, own;
  std::vector<std::string> loops;
  unsigned indent = 1;
};

} // namespace

std::string kernelOf(std::uint64_t seed) { return Generator(seed).kernel(); }

std::string programOf(std::uint64_t first, unsigned count) {
  std::string kernels, launches;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    kernels += kernelOf(seed);
    launches += "  k" + std::to_string(seed) + "<<<2, 64>>>(out, data, in, 5);\n";
  }
  return "#include <cuda_runtime.h>\n\n" + kernels + "int main() {\n  int *out, *data, *in;\n" +
         "  cudaMalloc(&out, 512 * sizeof(int));\n  cudaMalloc(&data, 256 * sizeof(int));\n" +
         "  cudaMalloc(&in, 64 * sizeof(int));\n  cudaMemset(out, 0, 512 * sizeof(int));\n" +
         "  cudaMemset(data, 0, 256 * sizeof(int));\n  cudaMemset(in, 0, 64 * sizeof(int));\n" + launches +
         "  cudaDeviceSynchronize();\n  cudaFree(out);\n  cudaFree(data);\n  cudaFree(in);\n}\n";
}

} // namespace kcheck::agreement
