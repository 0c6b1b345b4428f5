#include "analyzer/model/distances.h"

#include "analyzer/expr/fold.h"
#include "analyzer/model/kernel_state.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::size_t kMostPairs = 16;

/// As seen from `object`: which other array, and how far behind its own start that one begins.
struct Other {
  unsigned object;
  Expr distance;
};

std::optional<Other> seenFrom(ExprContext& exprs, const OneArray& one, unsigned object) {
  if (!one.distance) return {};
  if (one.first == object) return Other{one.second, one.distance};
  if (one.second != object) return {};
  return Other{one.first, exprs.sub(exprs.constant(64, 0), one.distance)};
}

bool isKnown(const std::vector<OneArray>& pairs, unsigned a, unsigned b) {
  return std::ranges::any_of(pairs, [&](const OneArray& one) {
    return (one.first == a && one.second == b) || (one.first == b && one.second == a);
  });
}

/// Of three arrays, the first and the last are one where both are one with that between.
void addThird(KernelState& state) {
  std::vector<OneArray>& pairs = state.model.mayBeOne;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t j = 0; j < i && pairs.size() < kMostPairs; ++j)
      for (const unsigned between : {pairs[i].first, pairs[i].second}) {
        const auto x = seenFrom(state.exprs, pairs[i], between), y = seenFrom(state.exprs, pairs[j], between);
        if (!x || !y || x->object == y->object || isKnown(pairs, x->object, y->object)) continue;
        pairs.push_back({x->object, y->object, state.exprs.logicalAnd(pairs[i].isOne, pairs[j].isOne),
                         state.exprs.sub(y->distance, x->distance), nullptr, nullptr});
      }
}

/// The arrays whose addresses a comparison puts in an order, or looks at the distance of. How each is
/// aligned, which masks tell of several at once, is no such question.
void collectArrays(KernelState& state, Expr e, std::unordered_set<Expr>& met, std::vector<Expr>& arrays) {
  if (!met.insert(e).second) return;
  switch (e->op) {
  case Op::Symbol:
    if (e->symbol->kind == SymbolKind::Object && isOfHost(state, state.objects.places(e).front().object))
      arrays.push_back(e);
    return;
  case Op::Add:
  case Op::Mul:
  case Op::SDiv:
  case Op::AShr:
  case Op::SExt:
  case Op::ZExt:
  case Op::Trunc:
    for (Expr operand : e->operands) collectArrays(state, operand, met, arrays);
    return;
  default: return;
  }
}

/// By an order, or by numbers made of the addresses. How far apart they lie is any number of elements.
void addCompared(KernelState& state, Expr a, Expr b) {
  const unsigned first = state.objects.places(a).front().object,
                 second = state.objects.places(b).front().object;
  std::vector<OneArray>& pairs = state.model.mayBeOne;
  if (first > second) return addCompared(state, b, a);
  const auto isThis = [&](const OneArray& one) {
    return one.firstStart && one.first == first && one.second == second;
  };
  if (first == second || pairs.size() >= kMostPairs || std::ranges::any_of(pairs, isThis)) return;
  const std::string names = state.objects[second].name + " - " + state.objects[first].name;
  Symbol* apart = state.symbols.get(nullptr, names, {}, names, 64, SymbolKind::Unknown);
  apart->lo = -powerOfTwo(30);
  apart->hi = powerOfTwo(30);
  apart->varies = Varies::Never;
  apart->exact = !state.launch.isOfProgram(); // any arrays may be given to a kernel on its own
  apart->cause = {CauseKind::Launch, "how `" + state.objects[first].name + "` and `" +
                                         state.objects[second].name + "` lie to each other"};
  const std::int64_t grain =
      std::max(1u, std::min(state.objects[first].elementBytes, state.objects[second].elementBytes));
  Expr distance = state.exprs.mul(state.exprs.of(apart), state.exprs.constant(64, grain), NoSignedWrap);
  pairs.push_back({first, second, state.exprs.boolean(true), distance, a, b});
}

/// Where the start of the array lies that a pointer parameter leads to; null where it is no whole array.
std::optional<unsigned> arrayOf(KernelState& state, std::size_t number) {
  if (number >= state.code.function->arg_size()) return {};
  const llvm::Argument& argument = *state.code.function->getArg(unsigned(number));
  if (!argument.getType()->isPointerTy() || argument.hasByValAttr()) return {};
  const auto places = state.objects.places(state.argumentValue(argument));
  return places.size() == 1 ? std::optional(places.front().object) : std::nullopt;
}

/// Pointers that host code lets be one, by a choice or copy that does not fold.
void addOfHost(KernelState& state) {
  if (!state.launch.launch) return;
  for (const OnePointer& one : state.launch.launch->mayBeOne) {
    const auto first = arrayOf(state, one.first), second = arrayOf(state, one.second);
    if (!first || !second || *first == *second) continue;
    const std::string text =
        "whether `" + state.objects[*first].name + "` and `" + state.objects[*second].name + "` are one";
    Symbol* isOne = state.symbols.get(nullptr, text, {}, text, 1, SymbolKind::Unknown);
    isOne->varies = Varies::Never;
    isOne->exact = false;
    isOne->cause = {CauseKind::Launch, text};
    Expr distance = one.isSame ? state.exprs.constant(64, 0) : nullptr;
    state.model.mayBeOne.push_back({std::min(*first, *second), std::max(*first, *second),
                                    state.exprs.of(isOne), distance, nullptr, nullptr});
  }
}

bool mayCompare(const Instruction& instruction) {
  auto* compare = dyn_cast<ICmpInst>(&instruction);
  return isa<PtrToIntInst>(instruction) ||
         (compare && compare->isRelational() && compare->getOperand(0)->getType()->isPointerTy());
}

} // namespace

bool isOfHost(const KernelState& state, unsigned object) {
  const MemoryObject& o = const_cast<KernelState&>(state).objects[object];
  return o.space == MemorySpace::Global && !o.isUnknown && !state.globals.count(object);
}

void addComparedArrays(KernelState& state) {
  addOfHost(state);
  addThird(state);
  if (state.launch.mayAlias || none_of(instructions(state.function), mayCompare)) return;
  std::unordered_set<Expr> seen;
  const auto look = [&](Expr n) {
    if (!isComparison(n->op) || !seen.insert(n).second) return false;
    std::vector<Expr> arrays;
    std::unordered_set<Expr> met;
    for (Expr side : n->operands) collectArrays(state, side, met, arrays);
    for (std::size_t i = 0; i < arrays.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) addCompared(state, arrays[i], arrays[j]);
    return false;
  };
  for (const Phase& phase : state.model.blockPhases)
    for (const ModelAccess& access : phase.accesses) {
      anyNode(access.condition, look);
      anyNode(access.offset, look);
    }
}

} // namespace kcheck::analyzer
