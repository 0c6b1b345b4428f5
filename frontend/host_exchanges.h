// Pointers that a loop exchanges: `std::swap(in, out);`, or the same by hand.
#pragma once

#include "frontend/host_uses.h"

namespace clang {
class BinaryOperator;
}

namespace kcheck::frontend {

struct FoundExchange {
  Exchange exchange; ///< without pointers where it is not two local ones
  std::vector<const clang::Expr*> parts;
  std::vector<const clang::BinaryOperator*> assignments; ///< that it is made of
};

/// `std::swap(a, b);` or `t = a; a = b; b = t;` with a new t, among the statements of the block.
std::vector<FoundExchange> exchangesIn(const clang::CompoundStmt& body);

} // namespace kcheck::frontend
