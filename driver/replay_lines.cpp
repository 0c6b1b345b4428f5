#include "driver/replay_lines.h"

#include "report/kernel_name.h"

#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>

#include <algorithm>
#include <optional>
#include <set>

namespace kcheck::driver {
namespace {

constexpr std::uint64_t kArrayBytes = 1 << 20;

/// `float` of `const float *__restrict`.
std::string elementOf(const Parameter& parameter) {
  llvm::StringRef type = parameter.type;
  type = type.take_front(type.rfind('*')).trim();
  while (type.consume_front("const ") || type.consume_front("volatile ") || type.consume_back(" const") ||
         type.consume_back(" volatile"))
    type = type.trim();
  return type == "void" ? "char" : type.str();
}

/// `ns::scale<float>` of `void (anonymous namespace)::ns::scale<float>(float *)`.
std::string nameToCall(const Kernel& kernel) {
  llvm::StringRef name = withoutParameters(kernel.name);
  name.consume_front("void ");
  const llvm::StringRef hidden = "(anonymous namespace)::";
  if (const std::size_t at = name.find(hidden); at != llvm::StringRef::npos)
    return name.take_front(at).str() + name.drop_front(at + hidden.size()).str();
  return name.str();
}

bool pointsToConst(const Parameter& parameter) {
  llvm::StringRef pointee = parameter.type;
  pointee = pointee.take_front(pointee.rfind('*')).trim();
  return pointee.starts_with("const ") || pointee.ends_with(" const");
}

/// Locks and counters begin at zero. `value`: of a number that the program's launch passes.
std::string argumentFor(const Parameter& parameter, std::optional<std::int64_t> value, const Attempt& attempt,
                        const analyzer::WantedContents& wanted) {
  if (parameter.isPointer) {
    const auto sought = wanted.soughtIn.find(parameter.name);
    const std::uint64_t bytes = std::max<std::uint64_t>(parameter.elementBytes, 1);
    const bool isRead = pointsToConst(parameter);
    const bool isSought =
        attempt.isSought && sought != wanted.soughtIn.end() && !wanted.waitedFor.contains(parameter.name);
    const bool isMixed = attempt.isMixed && !wanted.waitedFor.contains(parameter.name) &&
                         (isRead || !wanted.signalled.contains(parameter.name));
    const std::string content = isSought && attempt.isAny
                                    ? fmt::format("=any({0}, 0, {0}, {1})", sought->second, attempt.number)
                                : isSought ? fmt::format("={}", sought->second)
                                : isMixed  ? "=mixed"
                                : isRead   ? ""
                                           : "=zero";
    return fmt::format("{}[{}]{}", elementOf(parameter), std::max<std::uint64_t>(kArrayBytes / bytes, 1),
                       content);
  }
  static const std::set<std::string> numbers{
      "int",     "unsigned int",   "long",   "unsigned long", "long long", "unsigned long long",
      "short",   "unsigned short", "size_t", "int32_t",       "uint32_t",  "int64_t",
      "uint64_t"};
  llvm::StringRef type = parameter.type;
  type.consume_front("const ");
  if (numbers.contains(type.str())) return std::to_string(value.value_or(std::int64_t(attempt.number)));
  return type == "bool" || type == "float" || type == "double" ? "1" : "{}";
}

} // namespace

std::string launchLineFor(const Kernel& kernel, const Launch& known, const Shape& shape, std::uint64_t shared,
                          const Attempt& attempt, const analyzer::WantedContents& wanted) {
  const auto extent = [](const Dim3& d) {
    if (d.y == 1 && d.z == 1) return std::to_string(d.x);
    return d.z == 1 ? fmt::format("({},{})", d.x, d.y) : fmt::format("({},{},{})", d.x, d.y, d.z);
  };
  std::string arguments;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const auto value = i < known.arguments.size() ? known.arguments[i].value : std::nullopt;
    arguments += (i ? ", " : "") + argumentFor(kernel.parameters[i], value, attempt, wanted);
  }
  return fmt::format("{}<<<{},{}{}>>>({})", nameToCall(kernel), extent(shape.grid), extent(shape.block),
                     shared ? fmt::format(",{}", shared) : "", arguments);
}

} // namespace kcheck::driver
