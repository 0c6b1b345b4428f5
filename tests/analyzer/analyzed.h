// Sources through the front end and the static pass.
#pragma once

#include "analyzer/analyzer.h"
#include "frontend/frontend.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <unistd.h>

namespace kcheck::analyzer {

/// The analysis of a source text, compiled with kcheck's own headers.
class Analyzed {
public:
  explicit Analyzed(const std::string& text, Options options = {}, const SeenLaunches& seen = {}) {
    std::string pattern = (std::filesystem::temp_directory_path() / "kcheck-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) std::abort();
    std::string file = pattern + "/program.cu";
    std::ofstream(file, std::ios::binary) << text;
    frontend::Options front;
    front.files = {file};
    front.cudaPath = "none";
    front.wantHost = false;
    auto program = frontend::compile(front);
    std::filesystem::remove_all(pattern);
    if (!program) {
      ADD_FAILURE() << program.error().message;
      return;
    }
    analysis = analyze(*program->device, program->facts, options);
    settle(analysis, *program->device, program->facts, seen, {}, options);
    model = dumpModel(*program->device, program->facts, options);
    facts = program->facts;
  }

  static Options launch(std::uint32_t grid, std::uint32_t block) {
    Options options;
    options.grid = Extent{grid, 1, 1};
    options.block = Extent{block, 1, 1};
    return options;
  }

  /// The answer for the kernel whose name starts with `kernel` and `(`.
  const PropertyResult& property(const std::string& kernel, Property property) const {
    static const PropertyResult none;
    for (const KernelResult& result : analysis.kernels) {
      if (result.name.rfind(kernel + "(", 0) != 0) continue;
      for (const PropertyResult& answer : result.properties)
        if (answer.property == property) return answer;
    }
    ADD_FAILURE() << "no answer for " << kernel;
    return none;
  }
  Answer races(const std::string& kernel) const { return property(kernel, Property::RaceFree).answer; }
  Answer barriers(const std::string& kernel) const {
    return property(kernel, Property::BarriersUniform).answer;
  }
  Answer bounds(const std::string& kernel) const { return property(kernel, Property::InBounds).answer; }

  /// The findings of one kernel: `race-global@12 proved`.
  std::vector<std::string> findings(const std::string& kernel) const {
    std::vector<std::string> result;
    for (const Finding& finding : analysis.findings)
      if (finding.kernel.rfind(kernel + "(", 0) == 0)
        result.push_back(finding.rule + "@" + std::to_string(finding.where.line) + " " +
                         toString(finding.verdict));
    return result;
  }

  Analysis analysis;
  Facts facts;
  std::string model;
};

} // namespace kcheck::analyzer
