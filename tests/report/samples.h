// Reports made in memory, with the sources that they speak of: what the goldens and the unit tests write
// down.
#pragma once

#include "report/report_writers.h"

#include <sstream>

namespace kcheck::test {

struct Sample {
  Report report;
  MemorySourceReader source;

  std::string text(bool colour = false) {
    std::ostringstream out;
    writeText(report, {&source, colour}, out);
    return out.str();
  }
  std::string json() const {
    std::ostringstream out;
    writeJson(report, out);
    return out.str();
  }
};

inline Location at(const std::string& file, unsigned line, unsigned column, unsigned endColumn = 0) {
  return {file, line, column, endColumn};
}

inline PropertyResult answer(Property property, Answer answer, const std::string& reason = "") {
  PropertyResult result;
  result.property = property;
  result.answer = answer;
  result.reason = reason;
  return result;
}

inline std::vector<PropertyResult> allProved() {
  return {answer(Property::RaceFree, Answer::Proved), answer(Property::BarriersUniform, Answer::Proved),
          answer(Property::InBounds, Answer::Proved), answer(Property::Initialized, Answer::Proved)};
}

inline Launch launchOf(const std::string& symbol, Dim3 grid, Dim3 block, Location where) {
  Launch launch;
  launch.kernel = symbol;
  launch.where = where;
  launch.grid = grid;
  launch.block = block;
  return launch;
}

inline Metric metricOf(const std::string& kernel, SiteId site, Location where, AccessKind access,
                       std::uint64_t requests, std::uint64_t sectors, std::uint64_t ideal,
                       std::uint64_t bytes) {
  Metric metric;
  metric.kernel = kernel;
  metric.site = site;
  metric.where = where;
  metric.access = access;
  metric.requests = requests;
  metric.sectors = sectors;
  metric.idealSectors = ideal;
  metric.bytesRequested = bytes;
  return metric;
}

inline Access accessOf(AccessKind kind, SiteId site, Location where, Dim3 block, Dim3 thread,
                       const std::string& expr, const std::string& value = "") {
  Access access;
  access.kind = kind;
  access.site = site;
  access.where = where;
  access.block = block;
  access.thread = thread;
  access.expr = expr;
  access.value = value;
  return access;
}

inline void addTimes(Report& report) {
  report.version = "0.1.0";
  report.ranStatic = true;
  report.staticSeconds = 0.034;
  report.run.ran = true;
  report.run.seconds = 0.05;
  report.run.stdoutBytes = 26;
  report.run.kernelsLaunched = 1;
}

/// The example of the design: `c[0] += 1` by all threads, seen by both passes.
inline Sample counterSample() {
  Sample sample;
  const std::string file = "counter_nonatomic.cu";
  sample.source.add(
      file, "// a\n// b\n// c\n// d\n// e\n// f\n// g\n__global__ void countPlain(int *c) {\n  c[0] += 1;\n"
            "}\n\n\n\n\n\nint main() {\n  int *c;\n  cudaMalloc(&c, sizeof(int));\n}\n");
  Report& report = sample.report;
  addTimes(report);
  report.facts.files = {file};
  KernelResult kernel{"_Z10countPlainPi", "countPlain(int *)", at(file, 8, 17), {}, allProved()};
  kernel.properties[0].answer = Answer::Refuted;
  kernel.launches = {launchOf(kernel.symbol, {64, 1, 1}, {64, 1, 1}, at(file, 19, 3))};
  report.kernels = {kernel};

  Finding race;
  race.rule = "race-global";
  race.verdict = Verdict::Confirmed;
  race.kernel = kernel.name;
  race.message = "threads update `c[0]` without ordering, so updates are lost";
  race.where = at(file, 9, 3, 12);
  race.scope = RaceScope::InterBlock;
  race.kind = RaceKind::ReadWrite;
  race.accesses = {accessOf(AccessKind::Write, 1, race.where, {0, 0, 0}, {0, 0, 0}, "c[0]", "0 -> 1"),
                   accessOf(AccessKind::Read, 0, race.where, {1, 0, 0}, {0, 0, 0}, "c[0]", "0")};
  race.memory = MemoryFact{MemorySpace::Global, "c", 4, 0, 4, at(file, 18, 3, 31)};
  race.count = 4095;
  race.holdsFor = "every launch of two or more threads";
  race.hint = "atomicAdd(&c[0], 1)";
  report.findings = {race};
  report.metrics = {metricOf(kernel.name, 0, race.where, AccessKind::Read, 128, 128, 128, 16384),
                    metricOf(kernel.name, 1, race.where, AccessKind::Write, 128, 128, 128, 16384)};
  return sample;
}

/// All proved, all of the bandwidth used: nothing to say.
inline Sample cleanSample() {
  Sample sample;
  Report& report = sample.report;
  addTimes(report);
  report.facts.files = {"vecadd.cu"};
  KernelResult kernel{"_Z3addPf", "add(float *)", at("vecadd.cu", 3, 17), {}, allProved()};
  kernel.launches = {launchOf(kernel.symbol, {8, 1, 1}, {128, 1, 1}, at("vecadd.cu", 9, 3))};
  for (PropertyResult& property : kernel.properties) property.holdsFor = "any launch";
  report.kernels = {kernel};
  report.metrics = {metricOf(kernel.name, 0, at("vecadd.cu", 5, 3), AccessKind::Write, 32, 128, 128, 4096)};
  return sample;
}

/// One of everything: a race over two lines, a memory finding, advice, unknowns, conditions, assumptions, two
/// files, wasted bandwidth, a bad end.
inline Sample mixedSample() {
  Sample sample;
  const std::string a = "tiles.cu", b = "host.cu";
  sample.source.add(a, "__global__ void rows(float* out, const float* in) {\n"
                       "\t__shared__ float tile[32];\n"
                       "\ttile[threadIdx.x] = in[threadIdx.x * 32]; // größer\n"
                       "\tout[threadIdx.x] = tile[31 - threadIdx.x];\n"
                       "}\n");
  sample.source.add(b, "__global__ void edge(double* z, int n) {\n"
                       "  z[blockIdx.x * blockDim.x + threadIdx.x] = 1;\n"
                       "}\n"
                       "int main() {\n"
                       "  cudaMalloc(&z, 4000);\n"
                       "  cudaMemcpyAsync(z, h, 4000, cudaMemcpyHostToDevice, s);\n"
                       "}\n");
  Report& report = sample.report;
  addTimes(report);
  report.facts.files = {a, b};
  report.facts.sites.resize(3);
  report.facts.sites[0].expr = "in[threadIdx.x * 32]";
  report.run.exitStatus = 1;

  KernelResult rows{"_Z4rows", "rows(float *, const float *)", at(a, 1, 17), {}, allProved()};
  rows.properties[0].answer = Answer::Refuted;
  rows.properties[2] = answer(Property::InBounds, Answer::Unknown, "the size of `in` is not known (line 3)");
  rows.properties[3] =
      answer(Property::Initialized, Answer::Unknown, "the size of `in` is not known (line 3)");
  rows.launches = {launchOf(rows.symbol, {1, 1, 1}, {32, 1, 1}, at(a, 9, 1)),
                   launchOf(rows.symbol, {2, 2, 1}, {16, 16, 1}, at(a, 10, 1)),
                   launchOf(rows.symbol, {2, 2, 2}, {8, 8, 8}, at(a, 11, 1))};
  report.run.launches = {rows.launches[0]};
  KernelResult edge{"_Z4edge", "edge(double *, int)", at(b, 1, 17), {}, allProved()};
  edge.properties[0].holdsFor = "any launch";
  edge.properties[0].assumptions = {"32-bit index products do not wrap (line 2)"};
  edge.properties[1].holdsFor = "any launch";
  edge.properties[2].answer = Answer::Refuted;
  edge.properties[3].holdsFor = "blockDim.x <= 256";
  edge.properties[3].assumptions = {"32-bit index products do not wrap (line 2)",
                                    "pointer parameters do not overlap"};
  Launch any;
  any.kernel = edge.symbol;
  any.origin = LaunchOrigin::Symbolic;
  edge.launches = {any};
  report.kernels = {rows, edge};

  Finding race;
  race.rule = "race-warp";
  race.verdict = Verdict::Possible;
  race.kernel = rows.name;
  race.message = "threads of a warp exchange `tile` without `__syncwarp`";
  race.where = at(a, 3, 2, 42);
  race.scope = RaceScope::IntraWarp;
  race.kind = RaceKind::ReadWrite;
  race.accesses = {
      accessOf(AccessKind::Write, 1, at(a, 3, 2, 42), {0, 0, 0}, {3, 0, 0}, "tile[threadIdx.x]"),
      accessOf(AccessKind::Read, 2, at(a, 4, 21, 43), {0, 0, 0}, {28, 0, 0}, "tile[31 - threadIdx.x]")};
  race.memory = MemoryFact{MemorySpace::Shared, "tile", 128, std::nullopt, 4, at(a, 2, 19, 23)};
  race.reason = "the value of `in[0]`, which is taken as any";
  race.alsoIn = {"rows<int>(int *)", "rows<double>(double *)"};
  race.hint = "__syncwarp() after line 3";

  Finding bounds;
  bounds.rule = "out-of-bounds";
  bounds.verdict = Verdict::Observed;
  bounds.kernel = edge.name;
  bounds.message = "a thread writes past the end of `z`";
  bounds.where = at(b, 2, 3, 47);
  bounds.accesses = {accessOf(AccessKind::Write, kNoSite, bounds.where, {7, 0, 0}, {104, 0, 0},
                              "z[blockIdx.x * blockDim.x + threadIdx.x]", "1")};
  bounds.memory = MemoryFact{MemorySpace::Global, "z", 4000, 4008, 8, at(b, 5, 3, 23)};
  bounds.count = 1;
  bounds.hint = "if (i >= n) return;";

  Finding advice;
  advice.rule = "pageable-async";
  advice.severity = Severity::Note;
  advice.verdict = Verdict::Proved;
  advice.message = "the copy cannot overlap: `h` is pageable memory";
  advice.where = at(b, 6, 3, 57);
  advice.notes = {{at(b, 5, 3), "the copy's target is made here"}};

  Finding left = advice;
  left.suppressed = true;
  report.findings = {race, bounds, advice, left};
  report.metrics = {metricOf(rows.name, 0, at(a, 3, 22, 42), AccessKind::Read, 1, 32, 4, 128),
                    metricOf(rows.name, 1, at(a, 4, 2), AccessKind::Write, 1, 4, 4, 128),
                    metricOf(edge.name, 2, at(b, 2, 3), AccessKind::Write, 3, 3, 3, 72)};
  report.metrics[0].source = Source::Static;
  return sample;
}

} // namespace kcheck::test
