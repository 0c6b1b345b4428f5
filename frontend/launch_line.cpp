// Reads launch lines and writes the main that performs them.
#include "frontend/launch_line.h"

#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>

namespace kcheck::frontend {
namespace {

constexpr const char* kArrayPrefix = "kcheckArray_";

struct Part {
  std::string text;
  std::size_t offset;
};

/// The place where the bracket of a template's arguments closes that are followed by an array's, a call's or
/// another name's: `cuda::atomic<int, cuda::thread_scope_device>[8]`. No other `<` is a bracket.
std::size_t closingTemplate(llvm::StringRef text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] != '>' || --depth != 0) continue;
    const llvm::StringRef rest = text.drop_front(i + 1).ltrim();
    return !rest.empty() && llvm::StringRef("[({:*").contains(rest.front()) ? i : llvm::StringRef::npos;
  }
  return llvm::StringRef::npos;
}

/// Splits at commas outside of brackets.
std::vector<Part> splitAtCommas(llvm::StringRef text, std::size_t base) {
  std::vector<Part> parts;
  int depth = 0;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    llvm::StringRef part = text.slice(begin, end);
    const std::size_t blank = part.size() - part.ltrim().size();
    parts.push_back({part.trim().str(), base + begin + blank});
    begin = end + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (llvm::StringRef("([{").contains(text[i])) ++depth;
    if (llvm::StringRef(")]}").contains(text[i])) --depth;
    if (text[i] == '<' && depth == 0)
      if (const std::size_t close = closingTemplate(text, i); close != llvm::StringRef::npos) i = close;
    if (text[i] == ',' && depth == 0) add(i);
  }
  if (!text.trim().empty()) add(text.size());
  return parts;
}

/// The place after `open` where its bracket closes; npos when it does not.
std::size_t closing(llvm::StringRef text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (llvm::StringRef("([{").contains(text[i])) ++depth;
    if (llvm::StringRef(")]}").contains(text[i]) && --depth == 0) return i;
  }
  return llvm::StringRef::npos;
}

std::string extent(const std::string& text) {
  if (text.front() == '(' || text.front() == '{')
    if (text.find(',') != std::string::npos) return "dim3(" + text.substr(1, text.size() - 2) + ")";
  return text;
}

OrError<LaunchArgument> parseArgument(const Part& part) {
  LaunchArgument argument;
  argument.text = part.text;
  argument.offset = part.offset;
  const llvm::StringRef text = part.text;
  const std::size_t open = text.find('[');
  const bool isType =
      open != llvm::StringRef::npos && open > 0 && llvm::all_of(text.take_front(open), [](char c) {
        return llvm::isAlnum(c) || c == '_' || c == ':' || c == ' ' || c == '*' || c == '<' || c == '>' ||
               c == ',';
      });
  if (!isType || !(llvm::isAlpha(text.front()) || text.front() == '_')) return argument;
  const std::size_t close = closing(text, open);
  if (close == llvm::StringRef::npos) return Error{fmt::format("'{}' has no closing bracket", part.text)};
  const llvm::StringRef rest = text.drop_front(close + 1).trim();
  if (!rest.empty() && !rest.starts_with("=")) return argument;
  argument.type = text.take_front(open).trim().str();
  argument.count = text.slice(open + 1, close).trim().str();
  argument.content = rest.empty() ? "" : rest.drop_front().trim().str();
  if (argument.count.empty()) return Error{fmt::format("'{}' needs a number of elements", part.text)};
  if (!rest.empty() && argument.content.empty())
    return Error{fmt::format("'{}' has no content after =", part.text)};
  return argument;
}

/// `-1, 0` of `any(-1, 0)`; empty where it is no such content.
std::string valuesOfAny(llvm::StringRef content) {
  return content.consume_front("any(") && content.consume_back(")") ? content.trim().str() : "";
}

Error bad(const std::string& text, const std::string& why) {
  return Error{fmt::format("the launch line '{}' is not understood: {}; it should look like "
                           "k<<<8,128>>>(float[1000], float[1000]=iota, 1000)",
                           text, why)};
}

std::string quoted(const std::string& file) {
  std::string result = "\"";
  for (char c : file) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// `code` as if it stood at a column of the launch line.
std::string placed(const LaunchLine& launch, std::size_t offset, const std::string& code) {
  const std::size_t column = launch.column + offset;
  return fmt::format("#line {} {}\n{}{}\n", launch.line, quoted(launch.file), std::string(column - 1, ' '),
                     code);
}

} // namespace

OrError<LaunchLine> parseLaunchLine(const std::string& given) {
  LaunchLine launch;
  launch.text = llvm::StringRef(given).trim().rtrim("; ").str();
  const llvm::StringRef text = launch.text;
  const std::size_t chevrons = text.find("<<<");
  if (chevrons == llvm::StringRef::npos) return bad(given, "it has no <<<");
  const std::size_t end = text.find(">>>", chevrons);
  if (end == llvm::StringRef::npos) return bad(given, "it has no >>>");
  launch.kernel = text.take_front(chevrons).trim().str();
  if (launch.kernel.empty()) return bad(given, "it names no kernel");
  const std::vector<Part> shape = splitAtCommas(text.slice(chevrons + 3, end), chevrons + 3);
  if (shape.size() < 2 || shape.size() > 4) return bad(given, "<<< >>> needs a grid and a block");
  for (const Part& part : shape)
    if (part.text.empty()) return bad(given, "an extent is missing");
  launch.grid = extent(shape[0].text);
  launch.block = extent(shape[1].text);
  launch.sharedBytes = shape.size() > 2 ? shape[2].text : "0";
  const std::size_t open = text.find_first_not_of(' ', end + 3);
  if (open == llvm::StringRef::npos || text[open] != '(') return bad(given, "the arguments are missing");
  const std::size_t close = closing(text, open);
  if (close == llvm::StringRef::npos) return bad(given, "a bracket is not closed");
  if (close + 1 != text.size()) return bad(given, "something follows the arguments");
  for (const Part& part : splitAtCommas(text.slice(open + 1, close), open + 1)) {
    if (part.text.empty()) return bad(given, "an argument is missing");
    OrError<LaunchArgument> argument = parseArgument(part);
    if (!argument) return bad(given, argument.error().message);
    launch.arguments.push_back(std::move(*argument));
  }
  return launch;
}

std::string launchArrayName(std::size_t launch, std::size_t argument) {
  return fmt::format("{}{}_{}", kArrayPrefix, launch, argument);
}

std::string launchMain(const std::vector<LaunchLine>& launches, bool isChoice) {
  std::string code =
      fmt::format("\n#include {}\nint main({}) {{\n", quoted(KCHECK_SOURCE_HEADERS "/shim/kcheck_launch.h"),
                  isChoice ? "int, char** __kcArguments" : "");
  code += "kcLaunchesMeet();\n";
  for (std::size_t l = 0; l < launches.size(); ++l) {
    const LaunchLine& launch = launches[l];
    code += isChoice ? fmt::format("if (__kcIsNumber(__kcArguments[1], {})) {{\n", l) : "{\n";
    std::string passed, fills, frees;
    for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
      const LaunchArgument& argument = launch.arguments[a];
      const std::string name = launchArrayName(l, a);
      if (a != 0) passed += ", ";
      passed += argument.isArray() ? name : argument.text;
      if (!argument.isArray()) continue;
      code += placed(launch, argument.offset, fmt::format("{}* {} = nullptr;", argument.type, name));
      code += placed(
          launch, argument.offset,
          fmt::format("cudaMalloc((void**)&{}, sizeof({}) * ({}));", name, argument.type, argument.count));
      if (const std::string values = valuesOfAny(argument.content); !values.empty()) {
        fills += placed(launch, argument.offset,
                        fmt::format("__kcFillAny({}, {}, {}, {});", name, argument.count, a, values));
        frees += placed(launch, argument.offset, fmt::format("cudaFree({});", name));
        continue;
      }
      const bool isWord = argument.content == "zero" || argument.content == "iota" ||
                          argument.content == "random" || argument.content == "mixed";
      const std::string content = argument.content.empty() ? "pattern" : isWord ? argument.content : "value";
      if (argument.content != "uninitialized")
        fills += placed(launch, argument.offset,
                        fmt::format("__kcFill({}, {}, __kcContent::__kc{}{}, {});", name, argument.count,
                                    llvm::toUpper(content.front()), content.substr(1),
                                    content == "value" ? argument.content : std::to_string(a)));
      frees += placed(launch, argument.offset, fmt::format("cudaFree({});", name));
    }
    code += fills;
    code += placed(launch, 0,
                   fmt::format("{}<<<{}, {}, {}>>>({});", launch.kernel, launch.grid, launch.block,
                               launch.sharedBytes, passed));
    code += placed(launch, 0, "cudaDeviceSynchronize();") + frees + "}\n";
  }
  return code + "return 0;\n}\n";
}

} // namespace kcheck::frontend
