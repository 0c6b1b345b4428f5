// Addresses as sums: what they share, and by which constants they differ.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace llvm {
class DataLayout;
class Value;
} // namespace llvm

namespace kcheck::instrument {

/// An address without its constant part: equal shapes differ by their constants only.
struct AddressShape {
  struct Term {
    const llvm::Value* value;
    unsigned extension; ///< 0 none, 1 sign, 2 zero
    std::uint64_t scale;
    auto key() const { return std::tuple(value, extension, scale); }
    bool operator<(const Term& other) const { return key() < other.key(); }
    bool operator==(const Term& other) const { return key() == other.key(); }
  };
  const llvm::Value* base = nullptr;
  std::vector<Term> terms; ///< sorted
  bool operator==(const AddressShape& other) const { return base == other.base && terms == other.terms; }
};

struct LinearAddress {
  AddressShape shape;
  std::int64_t constant = 0;
};

/// Looks through address arithmetic, and through extensions of sums that cannot wrap.
LinearAddress linearAddress(const llvm::Value* address, const llvm::DataLayout& layout);

} // namespace kcheck::instrument
