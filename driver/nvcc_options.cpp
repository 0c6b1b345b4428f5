#include "driver/nvcc_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace kcheck::driver {
namespace {

enum class Does : std::uint8_t {
  Nothing,     ///< says how to build, not what the program means
  SetsArch,    ///< names a device
  SetsStreams, ///< says what the default stream is
};
struct Known {
  std::string_view name; ///< without the leading dashes
  bool takesValue;       ///< as `-name=value` or `-name value`
  Does does = Does::Nothing;
};

constexpr std::array kOptions = std::to_array<Known>({
    {"arch", true, Does::SetsArch},
    {"gpu-architecture", true, Does::SetsArch},
    {"default-stream", true, Does::SetsStreams},
    {"code", true},
    {"gpu-code", true},
    {"gencode", true},
    {"generate-code", true},
    {"lineinfo", false},
    {"generate-line-info", false},
    {"G", false},
    {"device-debug", false},
    {"g", false},
    {"debug", false},
    {"extended-lambda", false},
    {"expt-extended-lambda", false},
    {"expt-relaxed-constexpr", false},
    {"use_fast_math", false},
    {"ftz", true},
    {"prec-div", true},
    {"prec-sqrt", true},
    {"fmad", true},
    {"rdc", true},
    {"relocatable-device-code", true},
    {"dc", false},
    {"device-c", false},
    {"dlto", false},
    {"c", false},
    {"compile", false},
    {"m64", false},
    {"w", false},
    {"disable-warnings", false},
    {"res-usage", false},
    {"resource-usage", false},
    {"cudart", true},
    {"maxrregcount", true},
    {"ptxas-options", true},
    {"Xptxas", true},
    {"compiler-options", true},
    {"Xcompiler", true},
    {"linker-options", true},
    {"Xlinker", true},
    {"nvlink-options", true},
    {"Xnvlink", true},
    {"Xfatbin", true},
    {"Xcudafe", true},
    {"ccbin", true},
    {"compiler-bindir", true},
    {"diag-suppress", true},
    {"diag-warn", true},
    {"diag-error", true},
    {"Werror", true},
    {"threads", true},
    {"t", true},
    {"split-compile", true},
    {"keep", false},
    {"verbose", false},
    {"v", false},
    {"forward-unknown-to-host-compiler", false},
});

/// `sm_90a` and `compute_90` to `--arch=sm_90...`; `native` and `all` name no device.
std::vector<std::string> archOf(std::string_view value) {
  if (value.starts_with("compute_")) return {"--arch=sm_" + std::string(value.substr(8))};
  if (value.starts_with("sm_")) return {"--arch=" + std::string(value)};
  return {};
}

} // namespace

std::optional<NvccOption> nvccOption(const std::vector<std::string>& arguments, std::size_t at) {
  std::string_view name = arguments[at];
  const bool isLong = name.starts_with("--");
  if (!name.starts_with('-')) return std::nullopt;
  name.remove_prefix(isLong ? 2 : 1);
  const std::size_t equals = name.find('=');
  const std::string_view spelt = name.substr(0, equals);
  const auto known = std::ranges::find(kOptions, spelt, &Known::name);
  if (known == kOptions.end()) return std::nullopt;
  if (isLong && spelt == "arch") return std::nullopt; // kcheck's own
  NvccOption result;
  if (!known->takesValue) return equals == std::string_view::npos ? std::optional(result) : std::nullopt;
  std::string_view value;
  if (equals != std::string_view::npos) {
    value = name.substr(equals + 1);
  } else if (at + 1 < arguments.size()) {
    value = arguments[at + 1];
    result.arguments = 2;
  } else {
    return std::nullopt;
  }
  if (known->does == Does::SetsArch) result.own = archOf(value);
  if (known->does == Does::SetsStreams && value == "per-thread")
    result.compiler = {"-DCUDA_API_PER_THREAD_DEFAULT_STREAM"};
  return result;
}

} // namespace kcheck::driver
