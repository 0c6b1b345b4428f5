// Addresses as sums of products, `base + 4 * y * n + 4 * x + 12`: what two of them share, and by what they
// differ.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace llvm {
class DataLayout;
class Value;
} // namespace llvm

namespace kcheck::instrument {

enum class Extension : std::uint8_t { None, Sign, Zero };

/// A value, extended to 64 bits.
struct AddressFactor {
  llvm::Value* value;
  Extension extension;
  auto key() const { return std::tuple(value, extension); }
  bool operator<(const AddressFactor& other) const { return key() < other.key(); }
  bool operator==(const AddressFactor& other) const { return key() == other.key(); }
};
using AddressProduct = std::vector<AddressFactor>; ///< sorted

/// Modulo 2^64.
struct AddressSum {
  std::map<AddressProduct, std::uint64_t> terms; ///< with their coefficients, none of them zero
  std::int64_t constant = 0;

  void add(const AddressSum& other, std::uint64_t times = 1);
};

/// Looks through address arithmetic, and through extensions of sums and products that cannot wrap.
AddressSum addressSum(llvm::Value* address, const llvm::DataLayout& layout);

} // namespace kcheck::instrument
