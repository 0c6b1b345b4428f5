// kcheck_bench KERNELS.cu [ROUNDS] [NAME]: times each kernel with all checks and without any, turn by turn in
// one process, and prints medians and their ratios.
#include "bench/twins.h"
#include "bench/workloads.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/shadow.h"
#include "instrument/wire.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <string>

namespace {

using namespace kcheck;
using namespace kcheck::bench;

double now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// With one worker the time of this thread on the processor, since other programs on the machine do not
/// count then; with two the time that passes.
double seconds(const Workload& workload, const abi::KernelEntry& kernel, unsigned workers = 1) {
  clockid_t clock = workers == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  runtime::context().options.jobs = workers;
  double start = now(clock);
  workload.round(kernel);
  return now(clock) - start;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Measured {
  double checked, unchecked;
  double ratio;      ///< median of the rounds' own ratios: both halves of a round see the same machine
  double ratioOfTwo; ///< with two workers
};

Measured measure(const Workload& workload, unsigned rounds) {
  Twins twins = twinsOf(workload.kernel);
  for (const abi::KernelEntry* kernel : {twins.checked, twins.unchecked}) workload.round(*kernel);
  std::vector<double> checked, unchecked, ratios, ratiosOfTwo;
  for (unsigned i = 0; i < rounds; ++i) {
    checked.push_back(seconds(workload, *twins.checked));
    unchecked.push_back(seconds(workload, *twins.unchecked));
    ratios.push_back(checked.back() / unchecked.back());
    ratiosOfTwo.push_back(seconds(workload, *twins.checked, 2) / unchecked.back());
  }
  return {median(checked), median(unchecked), median(ratios), median(ratiosOfTwo)};
}

/// What bench/oclgrind has measured: nanoseconds per access, by kernel. Empty where Oclgrind is not
/// installed.
std::map<std::string, double> oclgrindTimes() {
  std::map<std::string, double> times;
  const char* path = std::getenv("KCHECK_BENCH_OCLGRIND");
  std::ifstream stream(path ? path : "");
  std::string kernel;
  for (double nanoseconds; stream >> kernel >> nanoseconds;) times[kernel] = nanoseconds;
  return times;
}

const char* name(Shape shape) {
  return shape == Shape::Tiled ? "tiled" : shape == Shape::Scattered ? "scattered" : "streaming";
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: kcheck_bench KERNELS.cu [ROUNDS] [NAME]\n"), 2;
  unsigned rounds = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 21;
  runtime::context().options.hostAccess = false;
  runtime::context().options.twice = false; // the first launches of each kernel alone, and of both twins
  if (auto loaded = loadTwins(argv[1]); !loaded)
    return std::fprintf(stderr, "kcheck_bench: %s\n", loaded.error().message.c_str()), 2;
  const std::map<std::string, double> oclgrind = oclgrindTimes();
  if (oclgrind.empty())
    std::printf("Oclgrind: left out (bench/run measures it where the package oclgrind is installed)\n");
  double logarithms = 0, logarithmsOfTwo = 0, oclgrindLogarithms = 0;
  unsigned count = 0, oclgrindCount = 0;
  std::printf("%-28s %-10s %12s %12s %14s %7s %12s %12s %7s\n", "kernel", "shape", "checked ms",
              "unchecked ms", "ns per access", "ratio", "two workers", "Oclgrind ns", "times");
  for (const Workload& workload : workloads()) {
    if (argc > 3 && workload.kernel != argv[3]) continue;
    Measured result = measure(workload, rounds);
    std::printf("%-28s %-10s %12.3f %12.3f %14.2f %7.2f %12.2f", workload.name.c_str(), name(workload.shape),
                result.checked * 1e3, result.unchecked * 1e3,
                (result.checked - result.unchecked) * 1e9 / static_cast<double>(workload.accesses),
                result.ratio, result.ratioOfTwo);
    if (auto other = oclgrind.find(workload.kernel); other != oclgrind.end()) {
      double times = other->second / (result.checked * 1e9 / static_cast<double>(workload.accesses));
      std::printf(" %12.0f %7.0f", other->second, times);
      oclgrindLogarithms += std::log(times);
      ++oclgrindCount;
    }
    std::printf("\n");
    std::fflush(stdout);
    logarithms += std::log(result.ratio);
    logarithmsOfTwo += std::log(result.ratioOfTwo);
    ++count;
  }
  std::printf("shadow bytes per checked byte: %.2f\n",
              static_cast<double>(sizeof(runtime::Cell) + sizeof(runtime::CellSites)) / 4 +
                  static_cast<double>(sizeof(runtime::Line)) / runtime::kLineBytes);
  if (oclgrindCount)
    std::printf("geometric mean of Oclgrind's time per access over that with all checks: %.0f\n",
                std::exp(oclgrindLogarithms / oclgrindCount));
  std::printf("geometric mean of all checks over unchecked, two workers: %.2f\n",
              std::exp(logarithmsOfTwo / count));
  std::printf("geometric mean of all checks over unchecked, one core: %.2f\n", std::exp(logarithms / count));
}
