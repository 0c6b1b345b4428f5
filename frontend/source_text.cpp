// Looks at and adapts source text before clang sees it.
#include "frontend/source_text.h"

#include "frontend/launch_brackets.h"
#include "frontend/raw_tokens.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>

namespace kcheck::frontend {

SourceLook lookAt(const std::string& text) {
  SourceLook look;
  int depth = 0;
  const std::vector<RawToken> tokens = tokensOf(text);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == "{") ++depth;
    if (tokens[i].text == "}") --depth;
    if (depth == 0 && tokens[i].text == "main" && tokens[i + 1].text == "(") look.definesMain = true;
  }
  return look;
}

std::vector<std::string> leadingHeaders(const std::string& text) {
  std::vector<std::string> headers;
  const std::vector<RawToken> tokens = tokensOf(text);
  const auto is = [&](std::size_t i, const char* word) {
    return i < tokens.size() && tokens[i].text == word;
  };
  for (std::size_t i = 0; is(i, "#");) {
    if (is(i + 1, "pragma") && is(i + 2, "once")) {
      i += 3;
      continue;
    }
    if (!is(i + 1, "include") || !is(i + 2, "<")) break;
    const std::size_t first = tokens[i + 2].offset + 1;
    while (i < tokens.size() && !is(i, ">")) ++i;
    if (i == tokens.size()) break;
    headers.push_back(text.substr(first, tokens[i++].offset - first));
  }
  return headers;
}

std::string adaptToClang(const std::string& text) {
  std::string result = text;
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (!has("alignas") && !has("<<")) return result;
  const std::vector<RawToken> tokens = tokensOf(text);
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].text != "__shared__" || tokens[i + 1].text != "alignas" || tokens[i + 2].text != "(")
      continue;
    int depth = 0;
    std::size_t last = i + 2;
    for (; last < tokens.size(); ++last) {
      if (tokens[last].text == "(") ++depth;
      if (tokens[last].text == ")" && --depth == 0) break;
    }
    if (last == tokens.size()) break;
    const std::size_t begin = tokens[i].offset, middle = tokens[i + 1].offset, end = tokens[last].offset + 1;
    const std::string alignment = text.substr(middle, end - middle);
    const std::string gap =
        text.substr(begin + tokens[i].text.size(), middle - begin - tokens[i].text.size());
    // `extern __shared__ alignas(16) T x[]` has a word before, where alignas may not stand either: it goes in
    // front.
    std::size_t first = begin;
    std::string before;
    if (i > 0 && (tokens[i - 1].text == "extern" || tokens[i - 1].text == "static")) {
      first = tokens[i - 1].offset;
      before = text.substr(first, begin - first);
    }
    std::string reordered = alignment;
    reordered.append(gap).append(before).append("__shared__");
    result.replace(first, end - first, reordered);
  }
  adaptLaunches(tokens, result);
  return result;
}

std::vector<std::string> shimsFor(const std::string& text) {
  if (text.find("__nv_atomic_") == std::string::npos) return {};
  return {"-include", KCHECK_SOURCE_HEADERS "/shim/kcheck_nv_atomic.h"};
}

std::string restoreDeviceProperties(const std::string& driverTypes) {
  constexpr int kRestored = 8;
  const std::size_t record = driverTypes.find("struct __device_builtin__ cudaDeviceProp");
  if (record == std::string::npos) return {};
  const std::size_t end = driverTypes.find("};", record);
  const std::string before = "reserved[";
  const std::size_t reserved = driverTypes.find(before, record);
  if (end == std::string::npos || reserved > end) return {};
  if (driverTypes.substr(record, end - record).find("clockRate") != std::string::npos) return {};
  const std::size_t digits = reserved + before.size(), close = driverTypes.find(']', digits);
  int words = 0;
  if (llvm::StringRef(driverTypes).slice(digits, close).getAsInteger(10, words) || words <= kRestored)
    return {};
  return driverTypes.substr(0, reserved) +
         "clockRate, memoryClockRate, computeMode, deviceOverlap, kernelExecTimeoutEnabled, "
         "maxTexture1DLinear, "
         "cooperativeMultiDeviceLaunch, singleToDoublePrecisionPerfRatio, reserved[" +
         std::to_string(words - kRestored) + driverTypes.substr(close);
}

bool mentionsKernel(const std::string& text, const std::string& kernel) {
  llvm::StringRef name = kernel;
  name = name.take_until([](char c) { return c == '<'; }).trim();
  if (const std::size_t colon = name.rfind(':'); colon != llvm::StringRef::npos)
    name = name.drop_front(colon + 1);
  for (const RawToken& token : tokensOf(text))
    if (token.text == name) return true;
  return false;
}

void placeLaunchLine(LaunchLine& launch, const std::string& file, const std::string& text,
                     std::size_t number) {
  launch.file = "--launch";
  launch.line = unsigned(number + 1);
  launch.column = 1;
  const llvm::StringRef whole = text;
  for (std::size_t at = whole.find(launch.text); at != llvm::StringRef::npos;
       at = whole.find(launch.text, at + 1)) {
    const std::size_t lineBegin =
        whole.rfind('\n', at) == llvm::StringRef::npos ? 0 : whole.rfind('\n', at) + 1;
    if (!whole.slice(lineBegin, at).contains("launch:")) continue;
    launch.file = file;
    launch.line = unsigned(whole.take_front(at).count('\n')) + 1;
    launch.column = unsigned(at - lineBegin) + 1;
    return;
  }
}

} // namespace kcheck::frontend
