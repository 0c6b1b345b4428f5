#include "idioms.h"

#include "random.h"

namespace kcheck::agreement {
namespace {

using Words = std::vector<std::string>;

/// What all kernels of a program share. `count` and `lock` are zero at each launch.
constexpr const char* kPrelude = R"(#include <cuda_runtime.h>

struct Pair { int a, b; };
__device__ int clampTo(int i, int top) { return i < 0 ? 0 : i > top ? top : i; }
__device__ void put(int* p, int i, int v) { p[i & 63] = v; }
__device__ int get(const int* p, int i) { return p[i & 63]; }
__device__ void exchange(int* p, int i, int k) {
  int v = p[i];
  __syncthreads();
  p[k] = v;
}
__device__ void together(int* p, int i, int v) {
  __syncthreads();
  p[i & 63] = v;
  __syncthreads();
}
__device__ int twice(int i) { return 2 * i; }
__device__ int half(int i) { return i / 2; }

)";

class Idioms {
public:
  explicit Idioms(std::uint64_t seed) : random(seed + 0x5eed), name("w" + std::to_string(seed)) {}

  std::string kernel() {
    text = "__global__ void " + name +
           "(int* out, int* data, const int* in, int* count, int* lock, int n) {\n"
           "  __shared__ int s[64], u[64], m[8][9], tickets;\n  __shared__ Pair r[64];\n"
           "  __shared__ unsigned char bytes[64];\n"
           "  int t = threadIdx.y * blockDim.x + threadIdx.x, b = blockIdx.x;\n"
           "  int g = b * blockDim.x * blockDim.y + t, lane = t & 31, x = t;\n"
           "  int row = t / 8 & 7, column = t % 8;\n";
    own = random.of<std::string>(owns());
    if (random.oneIn(3)) line("if (t == 0) tickets = 0;"), separate();
    unsigned parts = 2 + random.below(5);
    for (unsigned i = 0; i < parts; ++i) {
      part(2, true);
      if (random.oneIn(3)) separate();
    }
    return text + "}\n\n";
  }

private:
  static Words owns() {
    return {"t",
            "t",
            "63 - t",
            "t ^ 1",
            "t ^ 32",
            "(t & 56) | (t + 1 & 7)",
            "t * 5 & 63",
            "t % 8 * 8 + t / 8 % 8",
            "(t & 63) >> 1 | (t & 1) << 5",
            "(unsigned char)(t + 200)",
            "(short)(t * 3 + 7)",
            "t - 1u",
            "(long long)t + 5",
            "clampTo(t, 63)",
            "(t < 32 ? t : 95 - t)"};
  }
  std::string number(unsigned limit) { return std::to_string(random.below(limit)); }
  std::string shift() { return std::to_string(1 + random.below(5)); }

  void line(const std::string& what) { text += std::string(2 * indent, ' ') + what + "\n"; }
  void lines(const Words& all) {
    for (const std::string& one : all) line(one);
  }
  /// A barrier, most of the time.
  void separate() {
    if (!returned && !random.oneIn(10)) line("__syncthreads();");
  }

  std::string mine() { return random.oneIn(14) ? other() : own; }

  /// An index that another thread may have.
  std::string other() {
    std::string base = counters.empty() || random.oneIn(3) ? "t" : random.of(counters);
    switch (random.below(16)) {
    case 0: return base + " + " + number(40);
    case 1: return base + " ^ " + number(64);
    case 2: return base + " - " + number(9);
    case 3: return base + " >> " + shift();
    case 4: return base + " << " + shift();
    case 5: return "in[" + base + " & 63]";
    case 6: return "(unsigned char)(" + base + " * " + number(300) + ")";
    case 7: return "(" + guard() + " ? " + base + " : " + number(64) + ")";
    case 8: return "clampTo(" + base + " - 1, 63)";
    case 9: return "(" + base + " * " + number(9) + " + " + number(64) + ")";
    case 10: return "(int)((unsigned)" + base + " * 2654435769u >> 26)";
    case 11: return base + " % " + std::to_string(1 + random.below(20));
    case 12: return base + " / " + std::to_string(1 + random.below(9));
    case 13: return "x";
    case 14: return "(" + base + " & " + number(64) + " | " + number(8) + ")";
    default: return number(64);
    }
  }

  std::string guard() {
    switch (random.below(14)) {
    case 0: return "t == " + number(64);
    case 1: return "t < " + number(64);
    case 2: return "t % " + std::to_string(2 + random.below(6)) + " == 0";
    case 3: return "(t & " + number(64) + ") == " + number(8);
    case 4: return "lane == " + number(32);
    case 5: return "b == " + number(2) + " && t < " + number(64);
    case 6: return "g < " + number(150);
    case 7: return "in[t & 63] > " + number(64);
    case 8: return "t > n && t < 8 * n";
    case 9: return "row == column";
    case 10: return "row < column";
    case 11: return "!(t == 0 || t > " + number(64) + ")";
    case 12: return "(unsigned)(t - " + number(20) + ") < " + number(30) + "u";
    default: return "t >= " + number(64);
    }
  }
  std::string uniformGuard() {
    return random.of<std::string>({"n > 3", "n > 7", "b == 0", "b == 1", "n % 2 == 1", "gridDim.x > 1",
                                   "in[0] > 4", "in[b] > 4", "blockDim.x == 64"});
  }

  /// A place of the thread's own, mostly.
  std::string place() {
    std::string at = mine();
    switch (random.below(16)) {
    case 0:
    case 1:
    case 2: return "s[(" + at + ") & 63]";
    case 3:
    case 4: return "u[(" + at + ") & 63]";
    case 5: return random.oneIn(6) ? "m[column][row]" : "m[row][column]";
    case 6: return "r[(" + at + ") & 63]." + (random.oneIn(2) ? "a" : "b");
    case 7: return "bytes[(" + at + ") & 63]";
    case 8: return "*(s + ((" + at + ") & 63))";
    case 9: return "((volatile int*)u)[(" + at + ") & 63]";
    case 10: return "out[(long long)b * 64 + ((" + at + ") & 63)]";
    case 11: return "out[((" + at + ") & 63) * gridDim.x + b]";
    case 12: return "out[g]";
    case 13: return random.oneIn(4) ? "data[(" + at + ") & 63]" : "data[g & 127]";
    case 14: return "((short*)u)[2 * ((" + at + ") & 63) + " + number(2) + "]";
    default: return "((Pair*)out)[b * 64 + ((" + at + ") & 63)].b";
    }
  }
  std::string elsewhere() {
    return random.of<std::string>({"s[(AT) & 63]", "u[(AT) & 63]", "r[(AT) & 63].a", "m[column][row]",
                                   "get(s, AT)", "bytes[(AT) & 63]", "data[(AT) & 127]", "in[(AT) & 63]",
                                   "out[b * 64 + ((AT) & 63)]"});
  }
  std::string read() {
    std::string where = elsewhere(), at = random.oneIn(2) ? other() : own;
    if (auto found = where.find("AT"); found != std::string::npos) where.replace(found, 2, at);
    return where;
  }

  void block(unsigned depth, bool uniform) {
    ++indent;
    unsigned count = 1 + random.below(3);
    for (unsigned i = 0; i < count; ++i) part(depth, uniform);
    --indent;
  }

  void loop(unsigned depth, bool uniform) {
    std::string i(1, char('i' + counters.size()));
    Words heads{"for (int I = 0; I < 4; ++I) {",
                "for (int I = 1; I < 64; I <<= 1) {",
                "for (int I = 32; I > 0; I >>= 1) {",
                "for (int I = n; I-- > 0;) {",
                "for (unsigned I = blockDim.x / 2; I > 0; I /= 2) {",
                "for (int I = 0; I < n; I += 2) {",
                "int I = 64; while ((I >>= 1) > 0) {",
                "for (int I = 0, j2 = 7; I < j2; ++I, --j2) {",
                "for (unsigned char I = 250; I != 3; ++I) {"};
    if (!uniform || random.oneIn(4)) {
      uniform = false;
      heads = {"for (int I = t; I < 128; I += blockDim.x) {", "for (int I = t; I > 0; I /= 2) {",
               "for (int I = t * 2; I < t * 2 + 2; ++I) {",   "for (int I = 0; I <= (t & 3); ++I) {",
               "for (int I = g; I < 256; I += 128) {",        "for (int I = 0; I < (in[t & 63] & 3); ++I) {"};
    }
    std::string head = random.of(heads);
    for (std::size_t at; (at = head.find('I')) != std::string::npos;) head.replace(at, 1, i);
    line("{");
    ++indent;
    line(head);
    counters.push_back(i);
    if (!uniform && random.oneIn(5)) line("  if (" + guard() + ") continue;");
    if (!uniform && random.oneIn(5)) line("  if (" + guard() + ") break;");
    if (uniform && random.oneIn(8)) line("  if (" + uniformGuard() + ") break;");
    block(depth - 1, uniform);
    if (uniform && random.oneIn(2)) ++indent, separate(), --indent;
    counters.pop_back();
    line("}");
    --indent;
    line("}");
  }

  /// An idiom of several lines that needs all threads.
  void idiom() {
    std::string at = mine();
    switch (random.below(17)) {
    case 0: // reduction
      line("s[t & 63] = x;"), separate();
      line("for (int h = " + random.of<std::string>({"32", "32", "64", "16"}) + "; h > 0; h " +
           random.of<std::string>({">>= 1", "/= 2", ">>= 2", "/= 4"}) + ") {");
      line("  if (t < h) s[t & 63] += s[(t + h) & 63];");
      ++indent, separate(), --indent;
      return line("}");
    case 1: // tile turned round
      lines({"m[row][column] = x;"}), separate();
      return line("x = m[column][row];");
    case 2: // a slot by ticket
      line("{ int k = atomicAdd(" + random.of<std::string>({"&tickets", "count", "count + 1", "count + b"}) +
           ", " + random.of<std::string>({"1", "1", "1", "2"}) + ");");
      line("  " +
           random.of<std::string>({"out[k & 511] = t;", "s[k & 63] = t;", "if (k < 64) s[k] = t;",
                                   "if (k < 256) out[k * 2 + 1] = t;", "if (k == 0) u[0] = t;"}) +
           " }");
      return;
    case 3: { // one thread of each block under a lock
      std::string lock = random.of<std::string>({"lock", "lock", "lock", "lock + b"});
      line("if (t == 0) {");
      line("  while (atomicCAS(" + lock + ", 0, 1) != 0) {}");
      if (!random.oneIn(6)) line("  __threadfence();");
      line("  data[" + random.of<std::string>({"200", "200", "200 + b"}) + "] += 1;");
      if (!random.oneIn(6)) line("  __threadfence" + random.of<std::string>({"", "", "", "_block"}) + "();");
      return lines({"  atomicExch(" + lock + ", 0);", "}"});
    }
    case 4: // every thread under a lock
      lines({"for (bool done = false; !done;)", "  if (atomicCAS(lock + 2, 0, 1) == 0) {",
             "    __threadfence();"});
      line("    data[201] += " + number(9) + ";");
      if (!random.oneIn(6)) line("    __threadfence();");
      return lines({"    atomicExch(lock + 2, 0);", "    done = true;", "  }"});
    case 5: // an election
      line("if (" +
           random.of<std::string>({"atomicCAS(count + 3, 0, 1) == 0", "atomicExch(count + 4, 1) == 0",
                                   "atomicAdd(count + 5, 1) == 0", "atomicCAS(count + 3, 0, t) == 0",
                                   "atomicSub(count + 6, 1) == 0", "atomicMax(count + 7, 1) == 0"}) +
           ") data[202] = t;");
      return;
    case 6: // the last block sums up
      line("out[b] = n;");
      if (!random.oneIn(4)) line("__threadfence" + random.of<std::string>({"", "", "_block"}) + "();");
      separate();
      line("if (t == 0) {");
      line("  int k = atomicAdd(count + 2, 1);");
      line("  if (k == " + random.of<std::string>({"gridDim.x - 1", "gridDim.x - 1", "gridDim.x", "0"}) +
           ")");
      line("    for (int i = 0; i < gridDim.x; ++i) data[203] += out[i];");
      return line("}");
    case 7: // lanes of a warp
      line("s[t & 63] = x;");
      if (!random.oneIn(4)) line("__syncwarp();");
      return line("x += s[(" + random.of<std::string>({"t ^ 1", "t ^ 16", "t ^ 32", "t & 32"}) + ") & 63];");
    case 8: // a sum by shuffles
      line("for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffffu, x, d);");
      return line("if (lane == 0) u[" + random.of<std::string>({"t / 32", "t / 32", "t / 16", "t & 1"}) +
                  "] = x;");
    case 9: // a slot in the warp by its vote
      line("{ unsigned v = __ballot_sync(0xffffffffu, in[t & 63] > 30);");
      return line("  if (v >> lane & 1) s[t / 32 * 32 + __popc(v & ((1u << lane) - 1))] = t; }");
    case 10: // neighbours, two buffers
      lines({"{ int *p = s, *q = u;", "  for (int k = 0; k < " + number(5) + "; ++k) {"});
      lines({"    q[t & 63] = p[(t + 1) & 63];", "    int* h = p; p = q; q = h;"});
      indent += 2, separate(), indent -= 2;
      return lines({"  }", "}"});
    case 11: // scan
      line("for (int d = 1; d < 64; d *= 2) {");
      line("  int v = t >= d ? s[(t - d) & 63] : 0;");
      ++indent, separate(), --indent;
      line("  s[t & 63] += v;");
      ++indent, separate(), --indent;
      return line("}");
    case 12: return line("exchange(s, t & 63, (" + own + ") & 63);");
    case 13: return line("together(" + random.of<std::string>({"s", "u", "data"}) + ", " + mine() + ", x);");
    case 14: // a histogram
      line("if (t < 64) u[t] = 0;"), separate();
      line(random.of<std::string>({"atomicAdd(&u[in[t & 63] & 63], 1);", "atomicAdd(&u[in[t & 63] & 63], 1);",
                                   "u[in[t & 63] & 63]++;"}));
      separate();
      return line("if (t < 64) atomicAdd(&data[t], u[t]);");
    case 15: // some lanes
      lines({"if (lane < 16) {", "  s[t & 63] = x;"});
      line("  __syncwarp(" + random.of<std::string>({"0xffff", "0xffff", "0x00ff"}) + ");");
      return lines({"  x += s[(t ^ 3) & 63];", "}"});
    default: // compare and exchange
      line("for (int d = 32; d > 0; d >>= 1) {");
      line("  int k = " + random.of<std::string>({"t ^ d", "t ^ d", "t | d", "t + d"}) + ";");
      lines({"  if (k > t && s[t & 63] > s[k & 63]) {",
             "    int v = s[t & 63]; s[t & 63] = s[k & 63]; s[k & 63] = v;", "  }"});
      ++indent, separate(), --indent;
      return line("}");
    }
  }

  void part(unsigned depth, bool uniform) {
    switch (random.below(22)) {
    case 0:
    case 1:
    case 2: return line(place() + " = " + random.of<std::string>({"t", "x", "in[t & 63]", "x + b"}) + ";");
    case 3:
    case 4: return line("x += " + read() + ";");
    case 5: return line(place() + " = " + read() + ";");
    case 6: return line("put(" + random.of<std::string>({"s", "u"}) + ", " + mine() + ", x);");
    case 7:
      return line("x = " + random.of<std::string>({"t", "twice(t)", "half(t)", "x & 7", "in[t & 63]"}) + ";");
    case 8:
      return line("{ int* p = s + ((" + mine() + ") & 63); *p++ = t; " + (random.oneIn(4) ? "*p = 1;" : "") +
                  " }");
    case 9: {
      lines({"switch (t & 3) {", "case 0: " + place() + " = 1; break;"});
      return lines({"case 1: " + place() + " = 2;" + (random.oneIn(2) ? " break;" : ""),
                    "default: " + place() + " = 3;", "}"});
    }
    case 10:
      return line(random.of<std::string>(
                      {"atomicAdd(&s[", "atomicMax(&u[", "atomicAdd_block(&data[", "atomicAdd(&data["}) +
                  "(" + other() + ") & 63], 1);");
    case 11:
      if (indent > 1 || returned || !random.oneIn(3)) return line("x += " + read() + ";");
      returned = true;
      return line("if (" + guard() + ") return;");
    case 12:
      if (uniform && !returned && random.oneIn(3)) return line("if (" + uniformGuard() + ") return;");
      return line(place() + " = x;");
    case 13: return line("(" + guard() + " ? s : u)[(" + own + ") & 63] = t;");
    case 14:
    case 15:
      if (depth) return loop(depth, uniform);
      [[fallthrough]];
    case 16:
    case 17: {
      if (!depth) return line(place() + " = t;");
      bool both = uniform && random.oneIn(2);
      line("if (" + (both ? uniformGuard() : guard()) + ") {");
      block(depth - 1, both);
      if (random.oneIn(3)) line("} else {"), block(depth - 1, both);
      return line("}");
    }
    default:
      if (uniform && !returned) {
        idiom();
        return separate();
      }
      return line(place() + " = t;");
    }
  }

  Random random;
  std::string name, text, own;
  Words counters;
  unsigned indent = 1;
  bool returned = false; ///< some threads have: no more barriers
};

} // namespace

std::string idiomKernelOf(std::uint64_t seed) { return Idioms(seed).kernel(); }

std::string idiomProgramOf(std::uint64_t first, unsigned count, bool hidden) {
  std::string kernels = kPrelude, launches;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    kernels += idiomKernelOf(seed);
    const char* second[] = {"2, dim3(8, 8)", "3, 32", "1, 64", "2, dim3(32, 2)"};
    const char* hiddenSecond[] = {"blocks, dim3(threads / 8, 8)", "blocks + 1, threads / 2", "1, threads",
                                  "blocks, dim3(threads / 2, 2)"};
    for (std::string shape : {hidden ? std::string("blocks, threads") : std::string("2, 64"),
                              std::string((hidden ? hiddenSecond : second)[seed % 4])})
      launches += "  cudaMemset(count, 0, 64); cudaMemset(lock, 0, 64); w" + std::to_string(seed) + "<<<" +
                  shape + ">>>(out, data, in, count, lock, 5);\n";
  }
  return kernels + "int main(int argc, char** argv) {\n  int *out, *data, *in, *count, *lock, values[64];\n" +
         "  int blocks = argc + 1, threads = 64 * argc;\n" +
         "  for (int i = 0; i < 64; ++i) values[i] = i * 29 % 64;\n" +
         "  cudaMalloc(&out, 4096);\n  cudaMalloc(&data, 1024);\n  cudaMalloc(&in, 256);\n" +
         "  cudaMalloc(&count, 64);\n  cudaMalloc(&lock, 64);\n  cudaMemset(out, 0, 4096);\n" +
         "  cudaMemset(data, 0, 1024);\n  cudaMemcpy(in, values, 256, cudaMemcpyHostToDevice);\n" + launches +
         "  cudaDeviceSynchronize();\n}\n";
}

} // namespace kcheck::agreement
