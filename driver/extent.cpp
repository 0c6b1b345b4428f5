// Parses launch extents. See extent.h.
#include "driver/extent.h"

#include <fmt/format.h>

#include <charconv>

namespace kcheck::driver {
namespace {

constexpr std::uint64_t blockLimits[] = {1024, 1024, 64};
constexpr std::uint64_t gridLimits[] = {2147483647, 65535, 65535};
constexpr std::uint64_t threadsPerBlock = 1024;

std::vector<std::string> splitAtCommas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

} // namespace

OrError<Extent> parseExtent(const std::string& text, ExtentOf what) {
  const bool isBlock = what == ExtentOf::Block;
  const std::string option = fmt::format("--{}={}", isBlock ? "block" : "grid", text);
  std::vector<std::string> parts = splitAtCommas(text);
  if (parts.size() > 3) return Error{option + ": at most three extents, X,Y,Z"};
  Extent extent;
  extent.y = extent.z = 1;
  std::optional<std::uint32_t>* axes[] = {&extent.x, &extent.y, &extent.z};
  std::uint64_t volume = 1;
  for (std::size_t axis = 0; axis < parts.size(); ++axis) {
    const std::string& part = parts[axis];
    if (part == "*") {
      *axes[axis] = std::nullopt;
      continue;
    }
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size())
      return Error{fmt::format("{}: `{}` is no extent; wants positive numbers or *, as in --{}=32,8", option,
                               part, isBlock ? "block" : "grid")};
    const std::uint64_t limit = (isBlock ? blockLimits : gridLimits)[axis];
    if (value == 0) return Error{option + ": an extent of 0 launches nothing; the least is 1"};
    if (value > limit)
      return Error{fmt::format("{}: the {} extent of a {} is at most {} in CUDA", option, "xyz"[axis],
                               isBlock ? "block" : "grid", limit)};
    *axes[axis] = static_cast<std::uint32_t>(value);
    volume *= value;
  }
  if (isBlock && volume > threadsPerBlock)
    return Error{fmt::format("{}: {} threads; a CUDA block has at most {}", option, volume, threadsPerBlock)};
  return extent;
}

} // namespace kcheck::driver
