// Finds the made blocks of a page and makes them again. See page.h.
#include "page.h"

#include <fmt/format.h>
#include <regex>
#include <sstream>

namespace kcheck::expectations {

namespace {

constexpr const char* kFence = "```";
constexpr const char* kCommand = "$ ./kcheck ";

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The file of "```cuda FILE.cu"; empty for other fences.
std::string programOf(const std::string& fence) {
  const std::string lead = std::string(kFence) + "cuda ";
  return fence.starts_with(lead) ? fence.substr(lead.size()) : "";
}

bool isConsole(const std::string& fence) { return fence == std::string(kFence) + "console"; }

std::string ended(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

class Refresher {
public:
  Refresher(const PageSources& sources, std::vector<std::string>& mistakes)
      : sources(sources), mistakes(mistakes) {}

  std::string program(const std::string& file) {
    std::string content = sources.contentOf(file);
    if (content.empty()) mistakes.push_back(fmt::format("there is no program {}", file));
    return ended(withoutExpectations(content));
  }

  std::string console(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
      if (!line.starts_with("$ ")) continue;
      if (!line.starts_with(kCommand)) {
        mistakes.push_back(fmt::format("`{}` does not begin with `{}`", line, kCommand));
        continue;
      }
      text += line + '\n' + ended(withoutTimes(sources.outputOf(line.substr(2))));
    }
    if (text.empty()) mistakes.push_back("a console block without a command");
    return text;
  }

private:
  const PageSources& sources;
  std::vector<std::string>& mistakes;
};

} // namespace

std::string refreshed(const std::string& page, const PageSources& sources,
                      std::vector<std::string>& mistakes) {
  Refresher refresher(sources, mistakes);
  std::vector<std::string> lines = linesOf(page);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + '\n';
    if (!lines[i].starts_with(kFence)) continue;
    const std::string& fence = lines[i];
    std::vector<std::string> content;
    for (++i; i < lines.size() && lines[i] != kFence; ++i) content.push_back(lines[i]);
    if (i == lines.size()) {
      mistakes.push_back(fmt::format("`{}` is never closed", fence));
      break;
    }
    if (std::string file = programOf(fence); !file.empty())
      text += refresher.program(file);
    else if (isConsole(fence))
      text += refresher.console(content);
    else
      for (const std::string& line : content) text += line + '\n';
    text += std::string(kFence) + '\n';
  }
  return text;
}

bool hasMadeBlocks(const std::string& page) {
  for (const std::string& line : linesOf(page))
    if (isConsole(line) || !programOf(line).empty()) return true;
  return false;
}

std::string withoutExpectations(const std::string& program) {
  static const std::regex comment(R"(\s*// expect(-[a-z]+)*:.*$)");
  std::string text;
  for (const std::string& line : linesOf(program)) {
    std::string kept = std::regex_replace(line, comment, "");
    if (!kept.empty() || line.empty()) text += kept + '\n';
  }
  return text;
}

std::string withoutTimes(const std::string& output) {
  static const std::regex times(R"(; static \d+\.\d+ s(, run \d+\.\d+ s)?$|; run \d+\.\d+ s$)");
  static const std::regex notRun(R"(; static \d+\.\d+ s, (not run: .*)$)");
  std::string text;
  for (const std::string& line : linesOf(output))
    text += std::regex_replace(std::regex_replace(line, times, ""), notRun, "; $1") + '\n';
  return text;
}

} // namespace kcheck::expectations
