// What a kernel promises of its arrays (include/kcheck/annotations.h): their extent, and that the values in
// them differ from one another. A listed assumption each.
#include "analyzer/model/execution.h"

#include "report/assumptions.h"

#include "llvm/IR/Constants.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

namespace {

enum Promise : std::uint64_t { Extent, Distinct, Permutation, Ascending, AscendingUnsigned };

/// Whether it says the same in all phases of the kernel: not what happens in some round of a loop.
bool isOfThread(Expr condition) {
  return !anyNode(condition, [](Expr n) {
    return n->op == Op::Apply || (n->op == Op::Symbol && (n->symbol->kind == SymbolKind::LoopCounter ||
                                                          n->symbol->kind == SymbolKind::Unknown));
  });
}

} // namespace

/// Whether all threads come there, assumptions granted.
bool Execution::isEverywhere(Expr condition) const {
  std::vector<Expr> granted;
  for (auto& [path, holds] : assumed)
    if (isTrue(path) || std::find(granted.begin(), granted.end(), path) != granted.end())
      for (Expr part : conjunctsOf(exprs.logicalAnd(path, holds))) granted.push_back(part);
  const auto parts = conjunctsOf(condition);
  return std::all_of(parts.begin(), parts.end(), [&](Expr part) {
    return isTrue(part) || std::find(granted.begin(), granted.end(), part) != granted.end();
  });
}

void Execution::promiseArray(const CallInst& call, Expr condition) {
  const auto* kind = dyn_cast<ConstantInt>(call.getArgOperand(3));
  const auto* lineNumber = dyn_cast<ConstantInt>(call.getArgOperand(5));
  const auto places = state.objects.places(value(call.getArgOperand(0)));
  if (!kind || !lineNumber) return;
  const auto line = unsigned(lineNumber->getZExtValue());
  const std::string where = "line " + std::to_string(line);
  auto leaveOut = [&](const std::string& why) {
    state.gap(&call, "the annotation of " + where + " is left out: " + why, false, false,
              kind->getZExtValue() == Extent);
  };
  if (places.size() != 1 || !isConst(places[0].offset) || state.objects[places[0].object].isUnknown)
    return leaveOut("which array it speaks of is not followed");
  Expr count = value(call.getArgOperand(1)), size = exprs.extend(Op::ZExt, 64, value(call.getArgOperand(2)));
  if (variesOf(count) != Varies::Never)
    return leaveOut("the number of elements is not the same for all threads");
  const unsigned object = places[0].object;
  const std::string name = "`" + state.objects[object].name + "`";
  Expr end = exprs.add(places[0].offset, exprs.mul(count, size, NoSignedWrap), NoSignedWrap);
  if (kind->getZExtValue() == Extent) {
    if (state.objects[object].space != MemorySpace::Global) return;
    if (const auto known = state.objects[object].bytes) {
      if (isConst(end) && end->value > std::int64_t(*known)) {
        state.gap(&call,
                  name + " has " + std::to_string(*known) + " bytes, fewer than the annotation of " + where +
                      " says",
                  true, true, true);
        state.model.breaksAssumption = true;
      }
      return;
    }
    if (state.objects[object].symbolicBytes) return;
    if (!isEverywhere(condition)) return leaveOut("not all threads come to it; put it at the kernel's start");
    state.objects[object].symbolicBytes = end;
    return state.assume(name + " is as large as said" + annotatedIn(line));
  }
  if (!isOfThread(condition)) return leaveOut("it stands in a loop or hangs on data");
  const unsigned bits = unsigned(size->value) * 8;
  const std::uint64_t promised = kind->getZExtValue();
  ArrayPromise promise{places[0].offset, end, condition, count, bits};
  if (const auto known = state.promises.find(object); known != state.promises.end()) {
    const ArrayPromise& earlier = known->second;
    if (earlier.start == promise.start && earlier.end == end && earlier.condition == condition &&
        earlier.bits == bits)
      promise = earlier; // of the same part: both hold
    else if (earlier.isPermutation && earlier.end == end && promised == Distinct)
      return;
  }
  promise.ascend |= promised == Ascending || promised == AscendingUnsigned;
  promise.arePositive |= promised == AscendingUnsigned;
  promise.differ |= promised == Distinct || promised == Permutation;
  promise.isPermutation |= promised == Permutation;
  state.promises[object] = promise;
  if (!state.knowsWritten || state.isWritten(object)) return;
  state.assume("the values of " + name +
               (promised == Permutation ? " are a permutation"
                : promised == Distinct  ? " are distinct"
                                        : " ascend") +
               annotatedIn(line));
}

/// The content of an array whose values are promised to differ or to ascend: where two threads read the same
/// value within the promised part, they have read the same place. Null where nothing is promised.
Expr Execution::promisedContent(const Place& place, Function* content, unsigned width) {
  const auto found = state.promises.find(place.object);
  if (found == state.promises.end() || found->second.bits != width) return nullptr;
  const ArrayPromise& promise = found->second;
  Expr inside =
      exprs.logicalAnd(promise.condition, exprs.logicalAnd(exprs.binary(Op::Sle, promise.start, place.offset),
                                                           exprs.binary(Op::Slt, place.offset, promise.end)));
  // Outside, every place has a key of its own.
  Expr key = exprs.ite(inside, exprs.constant(64, 0), exprs.add(place.offset, exprs.constant(64, 1)));
  content->injective |= promise.differ;
  content->ascends = promise.ascend;
  content->keys = 1;
  Expr result = exprs.apply(content, {key, place.offset});
  if (promise.arePositive)
    state.model.facts.push_back(
        exprs.logicalOr(exprs.logicalNot(inside), exprs.binary(Op::Sle, exprs.constant(width, 0), result)));
  if (promise.isPermutation) {
    Expr asIndex = width == 64 ? result : exprs.extend(Op::ZExt, 64, result);
    state.model.facts.push_back(
        exprs.logicalOr(exprs.logicalNot(inside), exprs.binary(Op::Ult, asIndex, promise.count)));
  }
  return result;
}

} // namespace kcheck::analyzer
