// Reads expectations out of a file's comments. A misspelt expectation is a mistake that fails, never a
// comment.
#include "expectation.h"
#include "source_lines.h"

#include "report/rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <regex>
#include <sstream>

namespace kcheck::expectations {

namespace {

struct Directive {
  std::string verb; ///< "expect", "expect-static", ...
  std::string text;
};

std::string trimmed(const std::string& text) {
  std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> splitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(trimmed(part));
  return parts;
}

/// `expect: race-global // expect-efficiency: 25`: each verb with the text up to the next one.
std::vector<Directive> directivesOf(const std::string& comment) {
  static const std::regex verb(R"((^|[\s/])(expect(-[a-z-]+)?):)");
  std::vector<Directive> directives;
  for (auto it = std::sregex_iterator(comment.begin(), comment.end(), verb); it != std::sregex_iterator();
       ++it) {
    auto next = std::next(it);
    std::size_t begin = std::size_t(it->position() + it->length());
    std::size_t end = next == std::sregex_iterator() ? comment.size() : std::size_t(next->position());
    std::string text = comment.substr(begin, end - begin);
    directives.push_back({(*it)[2], trimmed(text.substr(0, text.find("//")))});
  }
  return directives;
}

class Parser {
public:
  explicit Parser(const std::string& text) : source(splitSource(text)) {
    for (const SourceLine& line : source) result.lines.push_back(line.text);
  }

  Expectations parse() {
    findPasses();
    for (unsigned number = 1; number <= source.size(); ++number)
      for (const Directive& directive : directivesOf(source[number - 1].comment)) read(directive, number);
    return std::move(result);
  }

private:
  void mistake(unsigned line, const std::string& what) {
    result.mistakes.push_back(
        fmt::format("line {}: {}\n{:>5} | {}", line, what, line, result.lines[line - 1]));
  }

  /// Options and launch lines as kcheck itself reads them, as far as they decide who sees the file.
  void findPasses() {
    static const std::regex mainFunction(R"(\bmain\s*\()");
    bool runs = false, onlyStatic = false, onlyRun = false;
    for (const SourceLine& line : source) {
      runs = runs || std::regex_search(line.code, mainFunction);
      std::string comment = trimmed(line.comment);
      if (comment.starts_with("launch:")) runs = true;
      if (!comment.starts_with("kcheck:")) continue;
      for (const std::string& option : splitAt(comment.substr(7), ' ')) {
        onlyStatic = onlyStatic || option == "--static";
        onlyRun = onlyRun || option == "--run";
        runs = runs || option.find("--launch=") != std::string::npos;
        if (option.starts_with("--fail-on") || option == "--strict") result.exitStatusIsFree = true;
      }
    }
    if (onlyRun && !onlyStatic)
      result.passes = Passes::Run;
    else if (!runs || (onlyStatic && !onlyRun))
      result.passes = Passes::Static;
  }

  void read(const Directive& directive, unsigned line) {
    if (directive.verb == "expect-proved") return readProof(directive, line);
    if (directive.verb == "expect-anywhere" ||
        (directive.verb == "expect-later" && !source[line - 1].hasCode))
      return readAnywhere(directive, line);
    if (!source[line - 1].hasCode)
      return mistake(line, directive.verb + " stands at the end of the line that it is about");
    if (directive.verb == "expect") return readFindings(directive, line, From::All);
    if (directive.verb == "expect-static") return readFindings(directive, line, From::Static);
    if (directive.verb == "expect-run") return readFindings(directive, line, From::Run);
    if (directive.verb == "expect-later") return readFindings(directive, line, From::Later);
    if (directive.verb == "expect-efficiency") return readFigures(directive, line, Figure::Efficiency);
    if (directive.verb == "expect-sectors") return readFigures(directive, line, Figure::Sectors);
    if (directive.verb == "expect-bank-ways") return readFigures(directive, line, Figure::BankWays);
    mistake(line, "there is no `" + directive.verb + ":`");
  }

  /// What an exercise shows; where, is for its reader to see.
  void readAnywhere(const Directive& directive, unsigned line) {
    bool later = directive.verb == "expect-later";
    if (source[line - 1].hasCode) return mistake(line, directive.verb + " stands on a line of its own");
    readFindings(directive, line, later ? From::Later : From::Any, true);
  }

  void readFindings(const Directive& directive, unsigned line, From from, bool anywhere = false) {
    std::vector<std::string> rules = splitAt(directive.text, ',');
    if (rules.empty()) mistake(line, directive.verb + " names no rule");
    for (const std::string& rule : rules) {
      auto known = ruleNamed(rule);
      if (!known)
        mistake(line, known.error().message);
      else if (from == From::Static && result.passes == Passes::Run)
        mistake(line, "the file has no static pass");
      else if (from == From::Run && result.passes == Passes::Static)
        mistake(line, "the file has no run");
      else
        result.findings.push_back({line, rule, from, anywhere});
    }
  }

  void readProof(const Directive& directive, unsigned line) {
    if (source[line - 1].hasCode)
      return mistake(line, "expect-proved stands on a line of its own above the kernel");
    if (result.passes == Passes::Run) return mistake(line, "the file has no static pass");
    ExpectedProof proof{line, 0, 0, {}};
    for (unsigned number = line + 1; number <= source.size() && !proof.limit; ++number) {
      if (source[number - 1].code.find("__global__") == std::string::npos) continue;
      (proof.kernel ? proof.limit : proof.kernel) = number;
    }
    if (!proof.kernel) return mistake(line, "no kernel follows");
    for (const std::string& property : splitAt(directive.text, ',')) {
      static const std::vector<std::string> known{"race-free", "barriers-uniform", "in-bounds",
                                                  "initialized"};
      if (std::ranges::find(known, property) == known.end())
        mistake(line,
                fmt::format("there is no property `{}`; there are {}", property, fmt::join(known, ", ")));
      else
        proof.properties.push_back(property);
    }
    if (proof.properties.empty())
      mistake(line, "expect-proved names no property");
    else
      result.proofs.push_back(proof);
  }

  /// `25`, or `load 25 store 100`.
  void readFigures(const Directive& directive, unsigned line, Figure figure) {
    std::istringstream in(directive.text);
    std::string access, word;
    bool any = false;
    while (in >> word) {
      if (word == "load" || word == "store" || word == "atomic") {
        access = word;
        continue;
      }
      char* end = nullptr;
      double value = std::strtod(word.c_str(), &end);
      if (*end != '\0') return mistake(line, fmt::format("`{}` is no figure", word));
      result.figures.push_back({line, figure, access, value});
      any = true;
      access.clear();
    }
    if (!any || !access.empty()) mistake(line, directive.verb + " wants a figure, or `load 25 store 100`");
  }

  std::vector<SourceLine> source;
  Expectations result;
};

} // namespace

Expectations parse(const std::string& text) { return Parser(text).parse(); }

std::string architectureOf(const std::string& text) {
  const std::string option = "// kcheck: --arch=";
  const std::size_t at = text.find(option);
  if (at == std::string::npos) return "sm_80";
  const std::size_t from = at + option.size();
  return text.substr(from, text.find_first_of(" \n", from) - from);
}

} // namespace kcheck::expectations
