// The command line (docs/architecture.md names the contract) as one value. Reading it touches the files named
// there only for their `// kcheck:` and `// launch:` lines.
#pragma once

#include "analyzer/analyzer.h"
#include "frontend/frontend.h"
#include "instrument/instrument.h"
#include "report/rules.h"

namespace kcheck::driver {

enum class Format : std::uint8_t { Text, Json };

struct Output {
  Format format = Format::Text;
  std::string path; ///< empty: stdout
};

enum class FailOn : std::uint8_t { Error, Warning, Never };
enum class Dump : std::uint8_t { None, Model, Ir };

struct Options {
  frontend::Options frontend;
  analyzer::Options analyzer;
  instrument::Options instrument;
  bool wantStatic = true, wantRun = true;
  RuleSet rules;
  std::vector<Output> outputs;
  FailOn failOn = FailOn::Error;
  bool strict = false;
  Dump dump = Dump::None;
  std::string
      answer; ///< the whole output of --help, --version, --list-rules, --explain; nothing else to do then
};

/// Options, or one sentence on what is wrong with them.
OrError<Options> readOptions(const std::vector<std::string>& arguments);

} // namespace kcheck::driver
