#include "instrument/pass/wording/values.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <llvm/ADT/APFloat.h>

namespace kcheck::instrument {

/// With a point, so that it is seen to be no integer.
template <class Real> static std::string decimal(Real value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

bool looksReal(std::uint64_t content, unsigned bytes) {
  if (bytes == 4) {
    auto integer = static_cast<std::int32_t>(content);
    float real = std::bit_cast<float>(static_cast<std::uint32_t>(content));
    bool small = integer > -(1 << 24) && integer < (1 << 24);
    return !small && std::isnormal(real) && std::fabs(real) > 1e-6f && std::fabs(real) < 1e7f;
  }
  if (bytes != 8) return false;
  auto integer = static_cast<std::int64_t>(content);
  double real = std::bit_cast<double>(content);
  bool small = integer > -(std::int64_t{1} << 48) && integer < (std::int64_t{1} << 48);
  return !small && std::isnormal(real) && std::fabs(real) > 1e-9 && std::fabs(real) < 1e15;
}

std::string valueText(std::uint64_t content, unsigned bytes, ValueType type) {
  const bool brain = type == ValueType::BrainFloat, real = brain || type == ValueType::Real;
  if (real && content == 0) return "0";
  if (bytes == 2 && real) {
    const llvm::fltSemantics& format = brain ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf();
    return decimal(llvm::APFloat(format, llvm::APInt(16, content & 0xFFFF)).convertToFloat());
  }
  if (bytes == 4 && real) return decimal(std::bit_cast<float>(static_cast<std::uint32_t>(content)));
  if (bytes == 8 && real) return decimal(std::bit_cast<double>(content));
  if (type == ValueType::Unsigned)
    return fmt::format("{}", bytes < 8 ? content & ((std::uint64_t{1} << 8 * bytes) - 1) : content);
  if (bytes == 4) return fmt::format("{}", static_cast<std::int32_t>(content));
  if (bytes == 8) return fmt::format("{}", static_cast<std::int64_t>(content));
  if (bytes == 1) return fmt::format("{}", static_cast<std::int8_t>(content));
  return fmt::format("{}", static_cast<std::int16_t>(content));
}

} // namespace kcheck::instrument
