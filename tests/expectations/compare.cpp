// Expected against got: each difference is a paragraph that a reader understands without opening the JSON.
#include "expectation.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kcheck::expectations {

namespace {

using Json = nlohmann::ordered_json;

const char* nameOf(Figure figure) {
  switch (figure) {
  case Figure::Efficiency: return "efficiency";
  case Figure::Sectors: return "sectors_per_request";
  case Figure::BankWays: return "bank_ways";
  }
  return "?";
}

class Comparer {
public:
  Comparer(const Expectations& expected, const std::string& name, const Json& report)
      : expected(expected), name(name), report(report) {}

  std::vector<std::string> compare() {
    for (const std::string& mistake : expected.mistakes)
      problems.push_back("in the file's own expectations, " + mistake);
    for (const Json& sentence : report.value("internal", Json::array()))
      problems.push_back("internal error in the report: " + sentence.get<std::string>());
    compareFindings();
    for (const ExpectedProof& proof : expected.proofs) compareProof(proof);
    for (const ExpectedFigure& figure : expected.figures) compareFigure(figure);
    comparePasses();
    return std::move(problems);
  }

private:
  void problem(unsigned line, const std::string& what) {
    std::string text = line >= 1 && line <= expected.lines.size() ? expected.lines[line - 1] : "";
    problems.push_back(fmt::format("{}:{}: {}\n{:>5} | {}", name, line, what, line, text));
  }

  bool isHere(const Json& record) const {
    return std::filesystem::path(record.value("file", "")).filename() == name;
  }

  std::vector<const Json*> findingsOf(const ExpectedFinding& one) const {
    std::vector<const Json*> found;
    for (const Json& finding : report.at("findings"))
      if (!finding.value("suppressed", false) && isHere(finding) && finding.at("rule") == one.rule &&
          (one.anywhere || finding.at("line") == one.line))
        found.push_back(&finding);
    return found;
  }

  bool fits(From from, const std::string& verdict) const {
    bool fromStatic = verdict == "proved" || verdict == "possible";
    if (from == From::Static) return fromStatic;
    if (from == From::Run) return verdict == "observed";
    if (from == From::Later || from == From::Any) return true;
    switch (expected.passes) {
    case Passes::Static: return fromStatic || verdict == "confirmed"; // a replay
    case Passes::Run: return verdict == "observed";
    case Passes::Both: break;
    }
    return verdict == "confirmed";
  }

  std::string wanted(From from) const {
    if (from == From::Static) return "by the static pass alone (proved or possible)";
    if (from == From::Run) return "by the run alone (observed)";
    if (from == From::Any) return "on any line";
    switch (expected.passes) {
    case Passes::Static: return "by the static pass (proved or possible)";
    case Passes::Run: return "by the run (observed)";
    case Passes::Both: break;
    }
    return "by both passes (confirmed)";
  }

  /// ", but `race-global` is reported on line 12": where a missing finding went to.
  std::string elsewhere(const std::string& rule) const {
    for (const Json& finding : report.at("findings"))
      if (finding.at("rule") == rule && !isExpected(finding))
        return fmt::format("; {} is on line {}", rule, finding.at("line").get<unsigned>());
    return "";
  }

  bool isExpected(const Json& finding) const {
    return isHere(finding) && std::ranges::any_of(expected.findings, [&](const ExpectedFinding& one) {
             return finding.at("rule") == one.rule && (one.anywhere || finding.at("line") == one.line);
           });
  }

  void compareFindings() {
    for (const ExpectedFinding& one : expected.findings) {
      std::vector<const Json*> found = findingsOf(one);
      if (one.from == From::Later) continue;
      if (found.empty()) {
        problem(one.line,
                fmt::format("missing: expected {} {}{}", one.rule, wanted(one.from), elsewhere(one.rule)));
        continue;
      }
      auto verdict = [](const Json* finding) { return finding->at("verdict").get<std::string>(); };
      bool any =
          std::ranges::any_of(found, [&](const Json* finding) { return fits(one.from, verdict(finding)); });
      if (!any)
        problem(one.line, fmt::format("wrong verdict: expected {} {}, got {}", one.rule, wanted(one.from),
                                      verdict(found.front())));
    }
    for (const Json& finding : report.at("findings")) {
      if (finding.value("suppressed", false) || isExpected(finding)) continue;
      std::string what = fmt::format("extra: {} [{}, {}, {}]", finding.value("message", ""),
                                     finding.at("rule").get<std::string>(), finding.value("severity", ""),
                                     finding.value("verdict", ""));
      if (isHere(finding))
        problem(finding.at("line"), what);
      else
        problems.push_back(
            fmt::format("{}:{}: {}", finding.value("file", ""), finding.value("line", 0), what));
    }
  }

  /// All kernels that the comment is about: instantiations of one template share a line.
  std::vector<const Json*> kernelsOf(const ExpectedProof& proof) const {
    unsigned first = 0;
    std::vector<const Json*> kernels;
    for (const Json& kernel : report.at("kernels")) {
      unsigned line = kernel.value("line", 0u);
      if (!isHere(kernel) || line <= proof.line || (proof.limit && line >= proof.limit)) continue;
      if (first && line > first) continue;
      if (line < first) kernels.clear();
      first = line;
      kernels.push_back(&kernel);
    }
    return kernels;
  }

  void compareProof(const ExpectedProof& proof) {
    std::vector<const Json*> kernels = kernelsOf(proof);
    if (kernels.empty())
      return problem(proof.kernel, "lost: the report has no such kernel to prove anything of");
    for (const Json* kernel : kernels)
      for (const std::string& property : proof.properties) {
        const Json& answers = kernel->at("properties");
        auto found = std::ranges::find_if(
            answers, [&](const Json& answer) { return answer.at("property") == property; });
        std::string verdict = found == answers.end() ? "no answer" : found->at("verdict").get<std::string>();
        if (verdict == "proved") continue;
        std::string reason = found == answers.end() ? "" : found->value("reason", "");
        problem(proof.kernel,
                fmt::format("lost: expected `{}` to be proved {}, got {}{}", kernel->value("name", ""),
                            property, verdict, reason.empty() ? "" : " (" + reason + ")"));
      }
  }

  void compareFigure(const ExpectedFigure& figure) {
    const std::string space = figure.figure == Figure::BankWays ? "shared" : "global";
    std::string what =
        figure.access.empty() ? nameOf(figure.figure) : figure.access + " " + nameOf(figure.figure);
    bool any = false;
    for (const Json& metric : report.at("metrics")) {
      bool about = isHere(metric) && metric.at("line") == figure.line && metric.at("space") == space &&
                   (figure.access.empty() || metric.at("access") == figure.access);
      if (!about) continue;
      any = true;
      double got = metric.at(nameOf(figure.figure)).get<double>();
      if (std::fabs(got - figure.value) > 0.05) // figures are written with one decimal
        problem(figure.line,
                fmt::format("wrong figure: expected {} {}, got {} for the {} ({})", what, figure.value, got,
                            metric.at("access").get<std::string>(), metric.value("from", "")));
    }
    if (!any)
      problem(figure.line,
              fmt::format("missing: no metric of a {} access here to compare {} with", space, what));
  }

  /// What both passes measure of one access, they measure alike. Of several at one place, as the fields of a
  /// structure are, each has one in the other pass that does.
  void comparePasses() {
    if (report.at("summary").at("errors") != 0) return; // threads that part or stop early count otherwise
    for (const Json& computed : report.at("metrics")) {
      if (computed.at("from") != "static" || !computed.at("exact")) continue;
      std::vector<const Json*> measured;
      for (const Json& metric : report.at("metrics")) {
        bool same = metric.at("from") == "run";
        for (const char* key : {"kernel", "file", "line", "column", "access", "space"})
          same = same && metric.at(key) == computed.at(key);
        if (same) measured.push_back(&metric);
      }
      for (const char* key : {"efficiency", "sectors_per_request", "bank_ways"}) {
        const double a = computed.at(key).get<double>();
        const auto agrees = [&](const Json* metric) {
          const double b = metric->at(key).get<double>();
          return std::fabs(a - b) <= 0.01 * std::max(std::fabs(a), std::fabs(b));
        };
        if (measured.empty() || std::ranges::any_of(measured, agrees)) continue;
        problem(computed.at("line"),
                fmt::format("the passes differ: {} of the {} is {} by the static pass and {} in the run", key,
                            computed.at("access").get<std::string>(), a,
                            measured.front()->at(key).get<double>()));
      }
    }
  }

  const Expectations& expected;
  const std::string& name;
  const Json& report;
  std::vector<std::string> problems;
};

} // namespace

std::vector<std::string> compare(const Expectations& expected, const std::string& name, const Json& report) {
  return Comparer(expected, name, report).compare();
}

std::optional<std::string> checkExitStatus(const Expectations& expected, int status, const Json& report) {
  int errors = report.at("summary").at("errors").get<int>();
  int wanted = errors > 0 ? 1 : 0;
  if (status == wanted || (expected.exitStatusIsFree && status <= 1)) return std::nullopt;
  std::string why = status == 3 ? "; the program itself failed, and no finding explains it" : "";
  return fmt::format("kcheck ended with status {}, but a report with {} errors means {}{}", status, errors,
                     wanted, why);
}

} // namespace kcheck::expectations
