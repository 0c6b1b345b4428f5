// Names are taken apart from the end, where parameter lists and template arguments are balanced; at the front
// `(anonymous namespace)::` would mislead.
#include "report/kernel_name.h"

namespace kcheck {

namespace {

/// Where the bracket that the last character closes was opened; the text's end when there is none.
std::size_t openingOf(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == close)
      ++depth;
    else if (text[i] == open && --depth == 0)
      return i;
  }
  return text.size();
}

std::string_view withoutTrailing(std::string_view text, char open, char close) {
  return text.ends_with(close) ? text.substr(0, openingOf(text, open, close)) : text;
}

} // namespace

std::string_view withoutParameters(std::string_view name) {
  // `k(int *) in a.cu`: where files have kernels of one name
  if (const std::size_t file = name.rfind(") in "); file != std::string_view::npos)
    name = name.substr(0, file + 1);
  return withoutTrailing(name, '(', ')');
}

std::string_view bareKernelName(std::string_view name) {
  std::string_view rest = withoutTrailing(withoutParameters(name), '<', '>');
  std::size_t scope = rest.rfind("::");
  if (scope != std::string_view::npos) rest.remove_prefix(scope + 2);
  std::size_t space = rest.rfind(' '); // `void scale`: instantiations may show their return type
  if (space != std::string_view::npos) rest.remove_prefix(space + 1);
  return rest;
}

bool namesKernel(std::string_view wanted, std::string_view symbol, std::string_view name) {
  if (wanted.empty()) return false;
  std::string_view plain = withoutParameters(name);
  std::string_view template_ = withoutTrailing(plain, '<', '>');
  if (wanted == symbol || wanted == name || wanted == plain || wanted == template_) return true;
  return wanted == bareKernelName(name);
}

} // namespace kcheck
