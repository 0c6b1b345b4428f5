// The fixtures of the static pass, and the kernels in them that are wrong.
#pragma once

#include "analyzed.h"

#include <sstream>

namespace kcheck::analyzer {

inline std::string fixture(const std::string& name) {
  std::ifstream in(std::string(KCHECK_SOURCE_DIR) + "/fixtures/static/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The kernels of the text whose comment begins with "Wrong".
inline std::vector<std::string> wrongKernels(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  bool isWrong = false;
  const std::string head = "__global__ void ";
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("// Wrong", 0) == 0) isWrong = true;
    if (line.rfind(head, 0) != 0) continue;
    if (isWrong) names.push_back(line.substr(head.size(), line.find('(') - head.size()));
    isWrong = false;
  }
  return names;
}

} // namespace kcheck::analyzer
