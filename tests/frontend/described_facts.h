// Facts of host code as text, one line for each buffer and launch.
#pragma once

#include "compile_source.h"

namespace kcheck::frontend {

inline std::string text(const Extent& extent) {
  if (extent.unknown()) return "?";
  auto axis = [](const std::optional<std::uint32_t>& known) { return known ? std::to_string(*known) : "?"; };
  return axis(extent.x) + "," + axis(extent.y) + "," + axis(extent.z);
}

inline std::string describeFacts(const Facts& facts) {
  std::string result;
  for (const Allocation& allocation : facts.allocations)
    result += "buffer " + allocation.name + " line " + std::to_string(allocation.where.line) + " bytes " +
              (allocation.bytes ? std::to_string(*allocation.bytes) : "?") + "\n";
  for (const Launch& launch : facts.launches) {
    const Kernel* kernel = facts.kernel(launch.kernel);
    result += "line " + std::to_string(launch.where.line) + " " +
              (kernel ? kernel->name : "NO KERNEL " + launch.kernel) + " <<<" + text(launch.grid) + " | " +
              text(launch.block) + " | " + (launch.sharedBytes ? std::to_string(*launch.sharedBytes) : "?") +
              ">>>";
    for (const Argument& argument : launch.arguments) {
      result += " " + argument.text;
      if (argument.value) result += "=" + std::to_string(*argument.value);
      if (argument.allocation) result += "@" + facts.allocations[*argument.allocation].name;
      if (argument.byteOffset) result += "+" + std::to_string(*argument.byteOffset);
    }
    result += "\n";
  }
  return result;
}

inline constexpr const char* kKernel = "__global__ void k(int* a, const float* b, int n) {}\n"; // line 1

/// Of host code behind that kernel.
inline void expectFacts(const std::string& host, const std::string& expected) {
  Options options;
  options.wantHost = false;
  auto program = compileSource(kKernel + host, options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(describeFacts(program->facts), expected);
}

} // namespace kcheck::frontend
