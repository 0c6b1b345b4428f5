// kcheck: options -> front end -> static pass and run -> report -> exit status.
#include "driver/output.h"
#include "driver/pipeline.h"

#include <iostream>

namespace {

constexpr int kCouldNotWork = 2;

int complain(const kcheck::Error& error) {
  std::cerr << "kcheck: " << error.message << '\n';
  return kCouldNotWork;
}

} // namespace

int main(int argc, char** argv) {
  using namespace kcheck;

  auto options = driver::readOptions({argv + 1, argv + argc});
  if (!options) return complain(options.error());
  if (!options->answer.empty()) {
    std::cout << options->answer;
    return 0;
  }
  if (auto usable = driver::checkTemporaryFolder(); !usable) return complain(usable.error());
  if (auto writable = driver::checkOutputs(options->outputs); !writable) return complain(writable.error());

  if (options->wantStatic) analyzer::prepareSolver();
  auto program = frontend::compile(options->frontend);
  if (!program) return complain(program.error());
  driver::findMain(program->facts, *options);
  if (auto found = driver::findKernels(*program, *options); !found) return complain(found.error());
  if (options->dump != driver::Dump::None) {
    std::cout << driver::dumpOf(*program, *options);
    return 0;
  }

  auto report = driver::check(*program, *options);
  if (!report) return complain(report.error());
  if (auto written = driver::writeOutputs(*report, *options); !written) return complain(written.error());
  return driver::exitStatus(*report, *options);
}
