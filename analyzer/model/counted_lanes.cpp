#include "analyzer/model/counted_lanes.h"

#include "analyzer/model/warp_values.h"

#include <llvm/Support/MathExtras.h>

#include <array>

namespace kcheck::analyzer {
namespace {

constexpr unsigned kLanes = 32;
using OfLanes = std::array<std::uint32_t, kLanes>; ///< a number for each

Expr lane(KernelState& state) {
  return state.exprs.binary(Op::And, state.linearThread(), state.exprs.constant(32, kLanes - 1));
}

/// `e` for each lane, if it hangs on nothing else.
std::optional<OfLanes> ofEachLane(KernelState& state, Expr e) {
  ExprContext& exprs = state.exprs;
  std::vector<std::pair<Expr, std::uint32_t>> words; ///< the lane's number, or some bits of it
  anyNode(e, [&](Expr n) {
    if (isLane(state, n))
      words.emplace_back(n, kLanes - 1);
    else if (n->op == Op::And && isConst(n->operands[1]) && n->operands[1]->value > 0 &&
             n->operands[1]->value < kLanes &&
             isLane(state, exprs.binary(Op::And, n->operands[0], exprs.constant(32, kLanes - 1))))
      words.emplace_back(n, std::uint32_t(n->operands[1]->value));
    return false;
  });
  OfLanes result;
  for (unsigned own = 0; own < kLanes; ++own) {
    Substitution known(exprs);
    for (auto [word, bits] : words) known.set(word, exprs.constant(32, own & bits));
    Expr value = known(e);
    if (!isConst(value)) return {};
    result[own] = std::uint32_t(value->value);
  }
  return result;
}

/// Bits of a mask, for each lane.
struct Taken {
  Expr mask;
  OfLanes bits;
};

Taken takenOf(KernelState& state, Expr bits) {
  Taken taken{bits, {}};
  taken.bits.fill(~0u);
  const auto forEach = [&](const OfLanes& values, auto take) {
    for (unsigned own = 0; own < kLanes; ++own) take(taken.bits[own], values[own]);
  };
  const auto isShift = [](Op op) { return op == Op::Shl || op == Op::LShr; };
  while (taken.mask->op == Op::And || isShift(taken.mask->op)) {
    Expr first = taken.mask->operands[0], second = taken.mask->operands[1];
    auto values = ofEachLane(state, second);
    if (taken.mask->op == Op::And) {
      if (!values && (values = ofEachLane(state, first))) std::swap(first, second);
      if (!values) break;
      forEach(*values, [](std::uint32_t& one, std::uint32_t kept) { one &= kept; });
    } else if (values) {
      const bool isRight = taken.mask->op == Op::LShr;
      forEach(*values, [&](std::uint32_t& one, std::uint32_t by) {
        one = by >= kLanes ? 0 : isRight ? one << by : one >> by;
      });
    } else {
      break;
    }
    taken.mask = first;
  }
  return taken;
}

std::uint32_t segmentOf(unsigned own, unsigned segment) {
  return llvm::maskTrailingOnes<std::uint32_t>(segment) << (own / segment * segment);
}

template <class Says> bool ofAllLanes(Says says) {
  for (unsigned own = 0; own < kLanes; ++own)
    if (!says(own)) return false;
  return true;
}

/// Each lane of a segment counts what the one before it does, and that one: no two count the same.
bool isChain(const OfLanes& bits, unsigned segment, bool isAbove) {
  return ofAllLanes([&](unsigned own) {
    const unsigned last = isAbove ? 0 : segment - 1;
    if (own % segment == last) return true;
    const unsigned next = isAbove ? own - 1 : own + 1;
    const std::uint32_t wanted = (bits[own] & ~(1u << own)) | 1u << own;
    return (bits[next] & ~(1u << next) & wanted) == wanted;
  });
}

} // namespace

std::optional<CountedLanes> countedLanesOf(KernelState& state, Expr bits) {
  using Kind = CountedLanes::Kind;
  if (bits->width != kLanes) return {};
  const Taken taken = takenOf(state, bits);
  if (taken.mask == bits || isConst(taken.mask)) return {};
  const bool withOwn = taken.bits[0] & 1;
  const bool isSame = ofAllLanes([&](unsigned own) { return bool(taken.bits[own] >> own & 1) == withOwn; });
  if (!isSame) return {};
  for (unsigned segment = kLanes; segment > 1; segment /= 2) {
    const bool isAlone =
        ofAllLanes([&](unsigned own) { return (taken.bits[own] & ~segmentOf(own, segment)) == 0; });
    const auto found = [&](Kind kind) { return CountedLanes{kind, withOwn, segment, isAlone, taken.mask}; };
    if (ofAllLanes([&](unsigned own) { return taken.bits[own] == segmentOf(own, segment); }))
      return found(Kind::All);
    for (bool isAbove : {false, true})
      if (isChain(taken.bits, segment, isAbove)) return found(isAbove ? Kind::Above : Kind::Below);
  }
  return {};
}

Expr votesOfSegment(KernelState& state, Expr votes, unsigned segment) {
  if (segment == kLanes) return votes;
  ExprContext& exprs = state.exprs;
  Expr first = exprs.binary(Op::And, lane(state), exprs.constant(32, kLanes - segment));
  Expr lanes = exprs.constant(32, std::int64_t(llvm::maskTrailingOnes<std::uint32_t>(segment)));
  return exprs.binary(Op::And, votes, exprs.binary(Op::Shl, lanes, first));
}

Expr segmentNumber(KernelState& state, unsigned segment) {
  return state.exprs.binary(Op::LShr, lane(state), state.exprs.constant(32, llvm::Log2_32(segment)));
}

} // namespace kcheck::analyzer
