// Comparisons, of pointers among them.
#include "analyzer/model/distances.h"
#include "analyzer/model/execution.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

/// Whether a pointer leads to a function, where it comes from memory or from the host: that is not followed,
/// but one pointer leads to one function.
Expr Execution::leadsToCode(Expr pointer, unsigned function) {
  const MemoryObject& code = state.objects[function];
  auto* known = state.symbols.function(nullptr, "leads to " + std::to_string(function),
                                       "whether it is " + code.name, 1);
  known->exact = false;
  known->cause = {CauseKind::Order, "which function a pointer leads to, which is not followed"};
  return exprs.apply(known, {pointer});
}

/// Arrays that are taken to be different, of which the kernel asks itself whether they are: it may be so.
Expr Execution::areOneArray(const Place& p, const Place& q) {
  if (p.object > q.object) return areOneArray(q, p);
  const unsigned a = p.object, b = q.object;
  if (!isOfHost(state, a) || !isOfHost(state, b)) return exprs.boolean(false);
  Expr distance = exprs.sub(p.offset, q.offset);
  const bool isFixed = isConst(distance);
  const std::string names = "`" + state.objects[a].name + "` and `" + state.objects[b].name + "`";
  std::string name = state.objects[a].name + " == " + state.objects[b].name;
  if (!isFixed)
    name += " further on";
  else if (distance->value != 0)
    name += " at " + std::to_string(distance->value);
  Symbol* symbol = state.symbols.get(nullptr, name, {}, name, 1, SymbolKind::Unknown);
  symbol->varies = Varies::Never;
  symbol->exact = !state.launch.isOfProgram(); // any arrays may be given to a kernel on its own
  symbol->cause = {CauseKind::Launch, "whether " + names + " are one array"};
  Expr isOne = exprs.of(symbol);
  if (none_of(state.model.mayBeOne, [&](const OneArray& known) { return known.isOne == isOne; }))
    state.model.mayBeOne.push_back({a, b, isOne, isFixed ? distance : nullptr, nullptr, nullptr});
  return isOne;
}

/// Whether the kernel asks of two of its parameters whether they are one.
static bool comparesParameters(const llvm::Function& kernel) {
  const auto isGiven = [](const Value* pointer) {
    return isa<llvm::Argument, LoadInst, ExtractValueInst>(pointer);
  };
  return any_of(instructions(kernel), [&](const Instruction& instruction) {
    auto* compare = dyn_cast<ICmpInst>(&instruction);
    if (!compare || !compare->getOperand(0)->getType()->isPointerTy()) return false;
    const Value *a = getUnderlyingObject(compare->getOperand(0), 0),
                *b = getUnderlyingObject(compare->getOperand(1), 0);
    return a != b && isGiven(a) && isGiven(b);
  });
}

/// Whether two pointers are equal, by the places that they may mean. Null when that is not known.
Expr Execution::samePointer(Expr a, Expr b) {
  if (!state.objects.isPointer(a) || !state.objects.isPointer(b)) return nullptr;
  auto left = state.objects.places(a), right = state.objects.places(b);
  constexpr std::size_t kMostPlaces = 16;
  if (left.size() > kMostPlaces || right.size() > kMostPlaces) return nullptr;
  auto isCode = [&](const Place& place) { return state.objects[place.object].isCode; };
  if (right.size() == 1 && isCode(right[0]) && !std::all_of(left.begin(), left.end(), isCode))
    return leadsToCode(a, right[0].object);
  if (left.size() == 1 && isCode(left[0]) && !std::all_of(right.begin(), right.end(), isCode))
    return leadsToCode(b, left[0].object);
  // Where `x` may be `a`, `x == a` asks which of its buffers it is, which are two unless somebody says
  // otherwise; `a == b` asks whether they are.
  const auto mayBeBoth = [&](const Place& p) {
    return std::ranges::find(right, p.object, &Place::object) != right.end();
  };
  const bool asksWhich = !state.launch.isOfProgram() && (left.size() > 1 || right.size() > 1) &&
                         std::ranges::any_of(left, mayBeBoth) && !comparesParameters(state.function);
  Expr same = exprs.boolean(false);
  for (const Place& p : left)
    for (const Place& q : right) {
      if (state.objects[p.object].isUnknown || state.objects[q.object].isUnknown) return nullptr;
      Expr both = exprs.logicalAnd(p.guard, q.guard);
      Expr meet = p.object == q.object ? exprs.eq(p.offset, q.offset)
                  : asksWhich          ? exprs.boolean(false)
                                       : areOneArray(p, q);
      same = exprs.logicalOr(same, exprs.logicalAnd(both, meet));
    }
  return same;
}

/// Pointers into one array compare as their offsets do: no address in it wraps around.
bool Execution::takeOffsets(Expr& a, Expr& b) {
  if (!state.objects.isPointer(a) || !state.objects.isPointer(b)) return false;
  const auto left = state.objects.places(a), right = state.objects.places(b);
  if (left.size() != 1 || right.size() != 1 || left[0].object != right[0].object ||
      state.objects[left[0].object].isUnknown)
    return false;
  a = left[0].offset;
  b = right[0].offset;
  return true;
}

/// Which of three a floating-point number is to another is not known, but it is one of them, whichever
/// comparison asks; unless one of both is no number.
Expr Execution::realComparison(const FCmpInst& compare) {
  enum Way { Less, Equal }; // or else it is greater
  Type* type = compare.getOperand(0)->getType();
  if (type->isVectorTy() || widthOf(type, state.layout) > 64) return opaque(compare, "fcmp");
  const Value *left = compare.getOperand(0), *right = compare.getOperand(1);
  CmpInst::Predicate predicate = compare.getPredicate();
  if (value(left)->id > value(right)->id) {
    std::swap(left, right);
    predicate = CmpInst::getSwappedPredicate(predicate);
  }
  std::string of;
  raw_string_ostream(of) << *type;
  const auto ask = [&](const char* role, unsigned width, std::vector<Expr> operands) {
    auto* made = state.symbols.function(nullptr, role + of, "fcmp", width);
    made->exact = false;
    made->cause = {CauseKind::Approximation, "floating-point arithmetic at " + state.lineText(compare)};
    return exprs.apply(made, std::move(operands));
  };
  const auto isNoNumber = [&](const Value* one) {
    if (auto* constant = dyn_cast<ConstantFP>(one)) return exprs.boolean(constant->isNaN());
    return isa<SIToFPInst, UIToFPInst>(one) ? exprs.boolean(false) : ask("nan ", 1, {value(one)});
  };
  const Expr a = value(left), b = value(right);
  const Expr isUnordered = exprs.logicalOr(isNoNumber(left), isNoNumber(right));
  const Expr way = a == b ? exprs.constant(2, Equal) : ask("way ", 2, {a, b});
  const Expr isLess = exprs.eq(way, exprs.constant(2, Less)),
             isEqual = exprs.eq(way, exprs.constant(2, Equal));
  const Expr isGreater = exprs.logicalNot(exprs.logicalOr(isLess, isEqual));
  Expr ofNumbers = exprs.boolean(false); // the bits of a predicate say what it takes
  if (predicate & CmpInst::FCMP_OLT) ofNumbers = exprs.logicalOr(ofNumbers, isLess);
  if (predicate & CmpInst::FCMP_OEQ) ofNumbers = exprs.logicalOr(ofNumbers, isEqual);
  if (predicate & CmpInst::FCMP_OGT) ofNumbers = exprs.logicalOr(ofNumbers, isGreater);
  return exprs.ite(isUnordered, exprs.boolean(predicate & CmpInst::FCMP_UNO), ofNumbers);
}

Expr Execution::comparison(const ICmpInst& compare) {
  Type* type = compare.getOperand(0)->getType();
  if (!isScalarInteger(type) && !type->isPointerTy()) return opaque(compare, "compare");
  Expr a = value(compare.getOperand(0)), b = value(compare.getOperand(1));
  if (compare.isEquality())
    if (Expr same = samePointer(a, b))
      return compare.getPredicate() == CmpInst::ICMP_EQ ? same : exprs.logicalNot(same);
  if (compare.isEquality() && !state.drawn.empty())
    if (Expr last = saysIsLast(a, b))
      return compare.getPredicate() == CmpInst::ICMP_EQ ? last : exprs.logicalNot(last);
  if (compare.isEquality() && isConst(b, 0))
    if (Expr first = saysIsLeader(a))
      return compare.getPredicate() == CmpInst::ICMP_EQ ? first : exprs.logicalNot(first);
  CmpInst::Predicate predicate = compare.getPredicate();
  if (type->isPointerTy() && compare.isUnsigned() && takeOffsets(a, b))
    predicate = ICmpInst::getSignedPredicate(predicate);
  switch (predicate) {
  case CmpInst::ICMP_EQ: return exprs.eq(a, b);
  case CmpInst::ICMP_NE: return exprs.logicalNot(exprs.eq(a, b));
  case CmpInst::ICMP_ULT: return exprs.binary(Op::Ult, a, b);
  case CmpInst::ICMP_ULE: return exprs.binary(Op::Ule, a, b);
  case CmpInst::ICMP_UGT: return exprs.binary(Op::Ult, b, a);
  case CmpInst::ICMP_UGE: return exprs.binary(Op::Ule, b, a);
  case CmpInst::ICMP_SLT: return exprs.binary(Op::Slt, a, b);
  case CmpInst::ICMP_SLE: return exprs.binary(Op::Sle, a, b);
  case CmpInst::ICMP_SGT: return exprs.binary(Op::Slt, b, a);
  default: return exprs.binary(Op::Sle, b, a);
  }
}

} // namespace kcheck::analyzer
