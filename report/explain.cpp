// --explain=RULE: the rule's page, from the built-in copy, set for a terminal: headings in capitals, programs
// and outputs indented, nothing of the page's markup.
#include "report/pages.h"
#include "report/rules.h"

#include <algorithm>
#include <cctype>

namespace kcheck {

namespace {

std::string inCapitals(std::string_view text) {
  std::string capitals(text);
  std::ranges::transform(capitals, capitals.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  return capitals;
}

/// One line of the page; `inBlock` says whether it is part of a program or an output.
std::string setLine(std::string_view line, bool inBlock) {
  if (inBlock) return line.empty() ? "" : "    " + std::string(line);
  if (line.starts_with("## ")) return inCapitals(line.substr(3));
  if (line.starts_with("# ")) return std::string(line.substr(2));
  return std::string(line);
}

} // namespace

std::string setForTerminal(std::string_view page) {
  std::string text;
  bool inBlock = false;
  while (!page.empty()) {
    std::size_t end = std::min(page.find('\n'), page.size());
    std::string_view line = page.substr(0, end);
    page.remove_prefix(std::min(end + 1, page.size()));
    if (line.starts_with("```"))
      inBlock = !inBlock;
    else
      text += setLine(line, inBlock) + '\n';
  }
  return text;
}

std::string explainRule(std::string_view id) {
  for (const RulePage& page : rulePages())
    if (id == page.id) return setForTerminal(page.text);
  return {};
}

} // namespace kcheck
