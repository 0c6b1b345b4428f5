#include "ptx/text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace kcheck::ptx {

std::string trimmed(const std::string& text) {
  auto isSpace = [](unsigned char c) { return std::isspace(c); };
  auto begin = std::find_if_not(text.begin(), text.end(), isSpace);
  auto end = std::find_if_not(text.rbegin(), std::string::const_reverse_iterator(begin), isSpace).base();
  return std::string(begin, end);
}

bool isNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

namespace {

std::string withoutComments(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      auto end = text.find("*/", i);
      i = end == std::string::npos ? text.size() : end + 2;
      result += ' ';
    } else {
      result += text[i++];
    }
  }
  return result;
}

/// `$$` is a dollar sign, which occurs in names only; `$0` and `${0}` are placeholders; `${:uid}`, for which
/// programs write `%=`, is a part of names that differs between asm statements, each of which has its own
/// names.
std::string unescaped(const std::string& text) {
  constexpr std::string_view kUnique = "${:uid}";
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "$$") == 0) {
      result += "dollar_";
      ++i;
    } else if (text.compare(i, kUnique.size(), kUnique) == 0) {
      result += "uid";
      i += kUnique.size() - 1;
    } else {
      result += text[i];
    }
  }
  return result;
}

/// Cuts the text into statements. Braces that open where a statement could start are scopes; others are
/// vectors.
std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> result;
  std::string current;
  int vectorDepth = 0;
  auto isEmpty = [&] { return trimmed(current).empty(); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.compare(i, 2, "::") == 0) { // .shared::cluster, which is no label
      current += "::";
      ++i;
      continue;
    }
    if (c == '\n' && trimmed(current).starts_with(".loc")) { // ends with its line
      current.clear();
      continue;
    }
    if (c == '{' && isEmpty()) continue;
    if (c == '}' && vectorDepth == 0) {
      if (!isEmpty()) result.push_back(trimmed(current));
      current.clear();
      continue;
    }
    if (c == '{') ++vectorDepth;
    if (c == '}') --vectorDepth;
    if (c == ';') {
      if (!isEmpty()) result.push_back(trimmed(current));
      current.clear();
      continue;
    }
    if (c == ':' && std::all_of(current.begin(), current.end(), [](char d) {
          return isNameCharacter(d) || d == '$' || std::isspace(static_cast<unsigned char>(d));
        })) {
      result.push_back(trimmed(current) + ":");
      current.clear();
      continue;
    }
    current += c;
  }
  if (!isEmpty() && !trimmed(current).starts_with(".loc")) result.push_back(trimmed(current));
  return result;
}

} // namespace

std::vector<std::string> cut(const std::string& text) { return pieces(withoutComments(unescaped(text))); }

} // namespace kcheck::ptx
