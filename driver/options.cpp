// Reads the command line into Options. See options.h.
#include "driver/options.h"

#include "driver/clang_arguments.h"
#include "driver/extent.h"
#include "driver/file_lines.h"
#include "report/nearest.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

namespace kcheck::driver {
namespace {

constexpr const char* kUsage = R"(kcheck [options] FILE.cu... [-- PROGRAM-ARGS...]

Finds data races, missing and divergent barriers, wrong memory accesses and wasted memory bandwidth in CUDA kernels,
without a GPU: a static pass over all inputs, and a run of the whole program on the CPU.)";

constexpr const char* kFooter = R"(
Compiler options are taken as nvcc and clang take them: -I -D -U -std= -include -isystem -x -l -L -O. Of nvcc's others
-arch and --default-stream count; those that say how to build (-lineinfo, -Xcompiler ...) are passed over. -o names the report, not a program.
A file may carry options of its own in comments: `// kcheck: OPTIONS` and `// launch: k<<<8,128>>>(...)`.
Exit status: 0 nothing to report; 1 findings; 2 kcheck could not do its work; 3 the checked program failed.)";

/// CLI11's own says between which two numbers a value must lie, in three hundred digits.
CLI::Validator number(double least) {
  return CLI::Validator(
      [least](const std::string& text) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool isNumber = error == std::errc() && end == text.data() + text.size();
        if (isNumber && value >= least && std::isfinite(value)) return std::string();
        return fmt::format("'{}' is no number {}", text, least > 0 ? "above 0" : "from 0 on");
      },
      "");
}

/// The option values as they are spelt; turned into Options once all are read.
struct Spelt {
  std::vector<std::string> files, kernels, launches;
  std::string cudaPath, arch = "sm_80", block, grid, checks, schedule = "fair", failOn = "error", assume,
                        dump, explain;
  bool onlyStatic = false, onlyRun = false, strict = false, listRules = false;
  double timeout = 0;
  double kernelSeconds = 10;
  unsigned solverTimeout = 1000, jobs = 0;
  std::uint64_t memoryLimit = 0;
  std::vector<Output> outputs;
};

void addReportOptions(CLI::App& app, Spelt& spelt) {
  app.add_option_function<std::string>(
         "--format",
         [&](const std::string& name) {
           spelt.outputs.push_back({name == "json" ? Format::Json : Format::Text, {}});
         },
         "text or json; repeatable, each may be followed by its own -o FILE")
      ->check(CLI::IsMember({"text", "json"}))
      ->trigger_on_parse()
      ->group("Report");
  app.add_option_function<std::string>(
         "-o",
         [&](const std::string& path) {
           if (spelt.outputs.empty()) spelt.outputs.push_back({});
           spelt.outputs.back().path = path;
         },
         "write the report (or the format before) to this file")
      ->trigger_on_parse()
      ->group("Report");
  app.add_option("--checks", spelt.checks,
                 "rules or groups (race, memory, init, sync, perf, host, all); -name leaves out")
      ->group("Report");
  app.add_option("--fail-on", spelt.failOn, "error, warning or never: what makes the exit status 1")
      ->check(CLI::IsMember({"error", "warning", "never"}))
      ->group("Report");
  app.add_flag("--strict", spelt.strict,
               "unknown counts as a failure; same-value write-write races are errors")
      ->group("Report");
}

void addPassOptions(CLI::App& app, Spelt& spelt) {
  app.add_flag("--static", spelt.onlyStatic, "the static pass only")->group("Passes");
  app.add_flag("--run", spelt.onlyRun, "the run only")->group("Passes");
  app.add_option("--kernel", spelt.kernels, "only this kernel (repeatable)")
      ->group("Passes")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--block", spelt.block,
                 "X[,Y[,Z]]: threads per block for the static pass; * leaves an axis free")
      ->group("Passes");
  app.add_option("--grid", spelt.grid,
                 "X[,Y[,Z]]: blocks per grid for the static pass; * leaves an axis free")
      ->group("Passes");
  app.add_option(
         "--launch", spelt.launches,
         "a launch for a file without main: 'k<<<8,128>>>(float[1000], float[1000]=iota, 1000)' (repeatable)")
      ->take_all()
      ->allow_extra_args(false) // a file may follow
      ->group("Passes");
  app.add_option("--assume", spelt.assume, "may-alias: pointer parameters may overlap")
      ->check(CLI::IsMember({"may-alias"}))
      ->group("Passes");
  app.add_option("--schedule", spelt.schedule,
                 "fair, lockstep or random:SEED: the order in which threads run")
      ->group("Passes");
  app.add_option("--dump", spelt.dump, "model or ir: what the static pass sees")
      ->check(CLI::IsMember({"model", "ir"}))
      ->group("Passes");
}

void addBounds(CLI::App& app, Spelt& spelt) {
  app.add_option("--cuda-path", spelt.cudaPath, "the CUDA toolkit; none uses the headers that kcheck ships")
      ->group("Compilation");
  app.add_option("--arch", spelt.arch, "sm_XX (default sm_80)")->group("Compilation");
  app.add_option("--timeout", spelt.timeout, "seconds that the run may take (default: no limit)")
      ->check(number(0))
      ->group("Bounds");
  app.add_option("--solver-timeout", spelt.solverTimeout,
                 "milliseconds per question (default 1000; more gives the whole kernel more as well)")
      ->check(number(std::numeric_limits<double>::min()))
      ->group("Bounds");
  app.add_option("--jobs", spelt.jobs, "cores to use (default: all)")
      ->check(number(std::numeric_limits<double>::min()))
      ->group("Bounds");
  app.add_option("--memory-limit", spelt.memoryLimit, "MB of device memory that the program may allocate")
      ->check(number(std::numeric_limits<double>::min()))
      ->group("Bounds");
}

void addHelp(CLI::App& app, Spelt& spelt) {
  app.set_help_flag("-h,--help", "this text")->group("Help");
  app.set_version_flag("--version", "kcheck " KCHECK_VERSION)->group("Help");
  app.add_flag("--list-rules", spelt.listRules, "every rule with its meaning")->group("Help");
  app.add_option("--explain", spelt.explain, "what a rule means and how to repair it")->group("Help");
}

void addOptions(CLI::App& app, Spelt& spelt) {
  app.option_defaults()->multi_option_policy(
      CLI::MultiOptionPolicy::TakeLast); // the command line overrides files
  app.add_option("FILE", spelt.files, "CUDA source files")->take_all()->group("");
  addPassOptions(app, spelt);
  addReportOptions(app, spelt);
  addBounds(app, spelt);
  addHelp(app, spelt);
  app.footer(kFooter);
}

/// Options in comments of the files come first, so that the command line overrides them.
OrError<std::vector<std::string>> withFileLines(const std::vector<std::string>& own,
                                                std::vector<std::string>& launches,
                                                std::vector<std::string>& compiler) {
  auto namesPass = [](const std::string& argument) { return argument == "--static" || argument == "--run"; };
  const bool choosesPass = std::any_of(own.begin(), own.end(), namesPass);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string& argument = own[i];
    const bool isValue = i > 0 && own[i - 1] == "-o";
    if (isValue || argument.starts_with("-") || !std::filesystem::is_regular_file(argument)) continue;
    std::ifstream file(argument);
    FileLines lines = readFileLines(file);
    auto split = splitArguments(lines.arguments);
    if (!split) return Error{fmt::format("{}: {}", argument, split.error().message)};
    if (choosesPass) std::erase_if(split->own, namesPass);
    all.insert(all.end(), split->own.begin(), split->own.end());
    compiler.insert(compiler.end(), split->compiler.begin(), split->compiler.end());
    launches.insert(launches.end(), lines.launches.begin(), lines.launches.end());
  }
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

OrError<std::monostate> checkFiles(const std::vector<std::string>& files) {
  if (files.empty())
    return Error{"no input file; usage: kcheck [options] FILE.cu... (kcheck --help lists the options)"};
  for (const std::string& file : files) {
    std::error_code error;
    auto status = std::filesystem::status(file, error);
    if (!std::filesystem::exists(status)) return Error{fmt::format("{}: there is no such file", file)};
    if (std::filesystem::is_directory(status))
      return Error{fmt::format("{}: is a directory; name the .cu files in it", file)};
    if (!std::ifstream(file)) return Error{fmt::format("{}: cannot be read", file)};
  }
  return std::monostate{};
}

OrError<std::monostate> setSchedule(const std::string& text, instrument::Options& options) {
  options.schedule = instrument::Schedule::Fair;
  if (text == "fair") return std::monostate{};
  if (text == "lockstep") {
    options.schedule = instrument::Schedule::Lockstep;
    return std::monostate{};
  }
  if (text.starts_with("random:")) {
    const char* begin = text.data() + 7;
    auto [end, error] = std::from_chars(begin, text.data() + text.size(), options.seed);
    if (error == std::errc() && end == text.data() + text.size()) {
      options.schedule = instrument::Schedule::Random;
      return std::monostate{};
    }
  }
  return Error{fmt::format("--schedule={}: wants fair, lockstep or random:SEED", text)};
}

OrError<Options> interpret(const Spelt& spelt, const SplitArguments& split) {
  Options options;
  if (auto ok = checkFiles(spelt.files); !ok) return ok.error();
  options.frontend.files = spelt.files;
  options.frontend.clangArguments = split.compiler;
  options.frontend.cudaPath = spelt.cudaPath;
  options.frontend.arch = spelt.arch;
  options.frontend.launchLines = spelt.launches;

  if (spelt.onlyStatic && spelt.onlyRun)
    return Error{"--static and --run exclude each other; without either, kcheck does both"};
  options.wantStatic = !spelt.onlyRun;
  options.wantRun = !spelt.onlyStatic;
  options.frontend.wantHost = options.wantRun;
  if (spelt.dump == "model") options.dump = Dump::Model;
  if (spelt.dump == "ir") options.dump = Dump::Ir;

  if (!spelt.block.empty()) {
    auto extent = parseExtent(spelt.block, ExtentOf::Block);
    if (!extent) return extent.error();
    options.analyzer.block = *extent;
  }
  if (!spelt.grid.empty()) {
    auto extent = parseExtent(spelt.grid, ExtentOf::Grid);
    if (!extent) return extent.error();
    options.analyzer.grid = *extent;
  }
  unsigned jobs = spelt.jobs ? spelt.jobs : std::max(1U, std::thread::hardware_concurrency());
  options.analyzer.kernels = spelt.kernels;
  options.analyzer.mayAlias = spelt.assume == "may-alias";
  options.analyzer.questionMilliseconds = spelt.solverTimeout;
  options.analyzer.jobs = jobs;

  options.instrument.programArguments = split.program;
  options.instrument.linkArguments = split.linker;
  options.instrument.jobs = jobs;
  options.instrument.timeoutSeconds = spelt.timeout;
  options.instrument.memoryLimitMb = spelt.memoryLimit;
  if (auto ok = setSchedule(spelt.schedule, options.instrument); !ok) return ok.error();

  options.rules = RuleSet::all();
  if (!spelt.checks.empty()) {
    auto rules = parseRuleList(spelt.checks);
    if (!rules) return rules.error();
    options.rules = *rules;
  }
  options.outputs = spelt.outputs;
  if (options.outputs.empty()) options.outputs.push_back({});
  options.failOn = spelt.failOn == "never"     ? FailOn::Never
                   : spelt.failOn == "warning" ? FailOn::Warning
                                               : FailOn::Error;
  options.strict = spelt.strict;
  return options;
}

OrError<Options> answering(const Spelt& spelt) {
  Options options;
  if (spelt.listRules) {
    for (const Rule& rule : allRules())
      options.answer += fmt::format("{:<22} {:<8} {:<6} {}\n", rule.id, toString(rule.severity),
                                    toString(rule.group), rule.meaning);
    return options;
  }
  auto rule = ruleNamed(spelt.explain);
  if (!rule) return rule.error();
  options.answer = explainRule((*rule)->id);
  return options;
}

/// CLI11's word for an unknown option, with the nearest one of ours.
Error unknownOption(const CLI::App& app, const std::string& argument) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  std::string given = argument.substr(0, argument.find('='));
  auto nearest = nearestWord(given, names);
  return Error{nearest ? fmt::format("unknown option {}; did you mean {}?", given, *nearest)
                       : fmt::format("unknown option {} (kcheck --help lists the options)", given)};
}

} // namespace

OrError<Options> readOptions(const std::vector<std::string>& arguments) {
  auto split = splitArguments(arguments);
  if (!split) return split.error();

  Spelt spelt;
  CLI::App app{kUsage, "kcheck"};
  addOptions(app, spelt);

  std::vector<std::string> launchesInFiles, compilerInFiles;
  auto all = withFileLines(split->own, launchesInFiles, compilerInFiles);
  if (!all) return all.error();
  split->compiler.insert(split->compiler.begin(), compilerInFiles.begin(), compilerInFiles.end());

  std::vector<std::string> reversed(all->rbegin(), all->rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    Options options;
    options.answer = app.help();
    return options;
  } catch (const CLI::CallForVersion&) {
    Options options;
    options.answer = "kcheck " KCHECK_VERSION "\n";
    return options;
  } catch (const CLI::ExtrasError&) {
    for (const std::string& argument : app.remaining())
      if (argument.starts_with("-")) return unknownOption(app, argument);
    return Error{"too many arguments"};
  } catch (const CLI::ParseError& error) {
    return Error{fmt::format("{} (kcheck --help lists the options)", error.what())};
  }
  if (spelt.listRules || !spelt.explain.empty()) return answering(spelt);
  if (spelt.launches.empty()) spelt.launches = launchesInFiles;
  return interpret(spelt, *split);
}

} // namespace kcheck::driver
