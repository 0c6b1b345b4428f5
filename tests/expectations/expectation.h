// The truth that a .cu file carries in its comments (design: "Expectations in a file"), and its comparison
// with a JSON report. Knows the contract only: nothing here depends on how kcheck finds what it finds.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kcheck::expectations {

/// Which passes see the file: its options may ask for one, and without main or launch line there is no run.
enum class Passes { Both, Static, Run };

/// `expect:` wants the finding from every pass that sees the file, `expect-static:` and `expect-run:` from
/// that one alone, `expect-anywhere:` from any; `expect-later:` allows it without asking for it.
enum class From { All, Static, Run, Any, Later };

struct ExpectedFinding {
  unsigned line = 0; ///< of the comment
  std::string rule;
  From from = From::All;
  bool anywhere = false; ///< on any line: the comment stands on a line of its own
};

/// `expect-proved:` above a kernel.
struct ExpectedProof {
  unsigned line = 0;   ///< of the comment
  unsigned kernel = 0; ///< line of the next `__global__`; 0 when there is none
  unsigned limit = 0;  ///< line of the one after, where the kernel must have begun; 0: the file's end
  std::vector<std::string> properties;
};

enum class Figure { Efficiency, Sectors, BankWays };

struct ExpectedFigure {
  unsigned line = 0;
  Figure figure = Figure::Efficiency;
  std::string access; ///< load, store or atomic; empty: all of the line
  double value = 0;
};

struct Expectations {
  std::vector<std::string> lines; ///< the file's text, for messages
  Passes passes = Passes::Both;
  bool exitStatusIsFree = false; ///< --fail-on or --strict change what the status says
  std::vector<ExpectedFinding> findings;
  std::vector<ExpectedProof> proofs;
  std::vector<ExpectedFigure> figures;
  std::vector<std::string> mistakes; ///< expectations that make no sense, one sentence each
};

Expectations parse(const std::string& text);
/// What the text asks for, `// kcheck: --arch=sm_90`, or else the usual one.
std::string architectureOf(const std::string& text);

/// What differs between a file's expectations and its report, one paragraph each, with the source line.
/// `name` is the file's name without folders; findings in other files are never expected.
std::vector<std::string> compare(const Expectations& expected, const std::string& name,
                                 const nlohmann::ordered_json& report);

/// Whether kcheck's exit status fits its own report: a sentence when not.
std::optional<std::string> checkExitStatus(const Expectations& expected, int status,
                                           const nlohmann::ordered_json& report);

} // namespace kcheck::expectations
