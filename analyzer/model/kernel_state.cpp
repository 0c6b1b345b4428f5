// What the runs of one kernel share.
#include "analyzer/model/kernel_state.h"

#include "report/assumptions.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

KernelState::KernelState(ExprContext& exprs, const PreparedModule& prepared, const KernelCode& code,
                         const Facts& facts, const LaunchCase& launch)
    : exprs(exprs), prepared(prepared), code(code), facts(facts), launch(launch), function(*code.function),
      layout(code.function->getDataLayout()), dominators(*code.function), loopInfo(dominators),
      symbols(exprs), objects(exprs, symbols),
      broadcasts(*code.function, dominators, loopInfo, !launch.keepsWhole),
      laneStores(*code.function, dominators, loopInfo, !launch.keepsWhole),
      sections(*code.function, dominators, loopInfo, broadcasts, {}), arrivals(*code.function, loopInfo),
      sightings(*code.function, loopInfo, dominators), fences(*code.function),
      asyncCopies(*code.function, dominators, loopInfo) {
  model.kernel = code.kernel;
}

void KernelState::setCut(Cut newCut) {
  cut = newCut;
  barrierBlocks.clear();
  barrierLoops.clear();
  auto isTogether = [&](const BasicBlock& block) {
    return cut == Cut::Together && any_of(block, [](const Instruction& instruction) {
             return lanesTogether(instruction).has_value();
           });
  };
  for (auto& block : function) {
    BarrierKind kind = barrierOf(*block.getFirstNonPHIOrDbg()).kind;
    if (cuts(cut, kind) && (kind != BarrierKind::Named || hasGroups))
      barrierBlocks.insert(&block);
    else if (isTogether(block))
      kind = BarrierKind::Warp;
    else
      continue;
    for (const Loop* loop = loopInfo.getLoopFor(&block); loop; loop = loop->getParentLoop()) {
      BarrierKind& widest = barrierLoops[loop];
      if (widest == BarrierKind::None ||
          (widest != BarrierKind::Grid && kind != BarrierKind::Warp && kind != BarrierKind::Lanes))
        widest = kind;
    }
  }
}

std::int64_t KernelState::numberOf(const Instruction& instruction) {
  if (instructionNumbers.empty())
    for (auto& block : function)
      for (auto& known : block) instructionNumbers.emplace(&known, std::int64_t(instructionNumbers.size()));
  return instructionNumbers.at(&instruction);
}

const Surroundings& KernelState::around(const Instruction& signal, unsigned reach) {
  return surroundings.try_emplace({&signal, reach}, signal, reach).first->second;
}

const BasicBlock* KernelState::intervalOf(unsigned object, const Update& update, const BasicBlock* block) {
  const RepeatedInterval found = repeatedIntervalOf(object, update, block);
  return found.loops.empty() ? found.start : nullptr;
}

KernelState::RepeatedInterval KernelState::repeatedIntervalOf(unsigned object, const Update& update,
                                                              const BasicBlock* block) {
  const auto& all = updates[object];
  const BasicBlock* entry = &function.getEntryBlock();
  const auto isAlike = [&](const auto& known) { return known.first.isAlike(update); };
  if (!isUnknownWritten() && !all.empty() && std::ranges::all_of(all, isAlike)) return {entry, {}};
  bool reachable = isUnknownWritten() && objects[object].escapes;
  if (objects[object].space != MemorySpace::Shared || reachable) return {}; // other blocks keep no intervals
  if (intervals.empty()) intervals = intervalsOf(function);
  const BasicBlock* found = nullptr;
  for (auto& [start, blocks] : intervals) {
    if (!blocks.count(block)) continue;
    if (found) return {};
    found = start;
  }
  if (!found) return {};
  for (auto& [kind, places] : all)
    for (const BasicBlock* place : places)
      if (!kind.isAlike(update) && intervals[found].count(place)) return {};
  RepeatedInterval result{found, {}};
  for (const Loop* loop = loopInfo.getLoopFor(block); loop; loop = loop->getParentLoop())
    if (std::ranges::any_of(
            intervals, [&](const auto& one) { return one.first != entry && loop->contains(one.first); })) {
      if (!loop->contains(found) || !dominators.dominates(found, block)) return {};
      result.loops.push_back(loop);
    }
  return result;
}

void KernelState::gap(const Instruction* where, std::string what, bool races, bool barriers, bool bounds) {
  ModelGap gap{where ? locationOf(*where) : code.kernel->where, std::move(what), races, barriers, bounds};
  for (const ModelGap& known : model.gaps)
    if (known.where == gap.where && known.what == gap.what) return;
  model.gaps.push_back(std::move(gap));
}

bool KernelState::isSynchronizing(Expr e) const {
  return anyNode(e, [&](Expr n) {
    return (n->op == Op::Symbol && synchronizing.count(n->symbol) != 0) ||
           (n->op == Op::Apply && synchronizingFunctions.count(n->function) != 0);
  });
}

bool KernelState::takesLock(const Instruction& atomic, Expr pointer) {
  if (!sections.valuesOf(atomic)) return false;
  auto places = objects.places(pointer);
  return std::all_of(places.begin(), places.end(),
                     [&](const Place& place) { return locksGivenBack.count(place.object) != 0; });
}

bool KernelState::isSignalled(Expr e) const {
  return anyNode(e, [&](Expr n) {
    return (n->op == Op::Symbol && synchronizing.count(n->symbol) && !lockResults.count(n->symbol)) ||
           (n->op == Op::Apply && synchronizingFunctions.count(n->function));
  });
}

void KernelState::assume(const std::string& what) {
  auto& list = model.assumptions;
  if (std::find(list.begin(), list.end(), what) == list.end()) list.push_back(what);
}

std::string KernelState::lineText(const Instruction& instruction) const {
  Location where = locationOf(instruction);
  return where.known() ? "line " + std::to_string(where.line) : std::string("an unknown line");
}

std::uint8_t KernelState::launchFlags(Op op, Expr a, Expr b) {
  const std::uint8_t both = NoSignedWrap | NoUnsignedWrap;
  auto isProduct = [&](Expr x, Expr y, int axis) {
    return y == model.blockDim[axis] && (x == model.blockIdx[axis] || x == model.gridDim[axis]);
  };
  for (int axis = 0; axis < 3; ++axis) {
    bool matches = false;
    if (op == Op::Mul) {
      matches = isProduct(a, b, axis) || isProduct(b, a, axis);
    } else {
      auto isIndex = [&](Expr x, Expr y) {
        return x == model.threadIdx[axis] && y->op == Op::Mul &&
               (isProduct(y->operands[0], y->operands[1], axis) ||
                isProduct(y->operands[1], y->operands[0], axis));
      };
      matches = isIndex(a, b) || isIndex(b, a);
    }
    if (!matches) continue;
    if (!isConst(model.blockDim[axis]) || !isConst(model.gridDim[axis])) {
      assume(kFewThreads);
    } else if (model.blockDim[axis]->value * model.gridDim[axis]->value > INT32_MAX) {
      model.breaksAssumption = true;
      return NoFlags;
    }
    return both;
  }
  return NoFlags;
}

Symbol* KernelState::loopCounter(const Loop* loop, RunId run) {
  std::string name = "iteration (" + lineText(*loop->getHeader()->getTerminator()) + ")";
  Symbol* counter = symbols.get(loop->getHeader(), "counter", run, name, 32, SymbolKind::LoopCounter);
  if (counter->lo < 0) counter->lo = 0;
  return counter;
}

Expr KernelState::withDefinitions(Expr condition, std::initializer_list<Expr> roots) {
  if (definitions.empty()) return condition;
  std::vector<Expr> todo(roots);
  todo.push_back(condition);
  std::unordered_set<const Symbol*> done;
  std::unordered_set<Expr> seen;
  while (!todo.empty()) {
    Expr e = todo.back();
    todo.pop_back();
    if (!e || !seen.insert(e).second) continue;
    todo.insert(todo.end(), e->operands.begin(), e->operands.end());
    if (e->op != Op::Symbol || !done.insert(e->symbol).second) continue;
    auto definition = definitions.find(e->symbol);
    if (definition == definitions.end()) continue;
    condition = exprs.logicalAnd(condition, definition->second);
    todo.push_back(definition->second);
  }
  return condition;
}

unsigned widthOf(const Type* type, const DataLayout& layout) {
  if (type->isVoidTy()) return 1;
  if (!type->isSized()) return 64;
  std::uint64_t bits = layout.getTypeSizeInBits(const_cast<Type*>(type)).getFixedValue();
  return bits < 1 ? 8 : bits > 64 ? 64 : unsigned(bits);
}

namespace {

/// Looks at each node once: what choices share has as many ways to it as there are combinations of them.
class Signs {
public:
  bool isNonNegative(Expr e) {
    if (e->operands.empty()) return find(e);
    const auto found = known.find(e);
    if (found != known.end()) return found->second;
    const bool result = find(e);
    known[e] = result;
    return result;
  }

private:
  bool find(Expr e) {
    const auto of = [&](unsigned operand) { return isNonNegative(e->operands[operand]); };
    switch (e->op) {
    case Op::Const: return e->width > 1 && e->value >= 0;
    case Op::Symbol: return e->symbol->lo >= 0 && e->symbol->hi < (Int(1) << (e->width - 1));
    case Op::ZExt: return true;
    case Op::SExt: return e->operands[0]->width > 1 && of(0);
    case Op::And: return of(0) || of(1);
    case Op::LShr: return of(0) || (isConst(e->operands[1]) && e->operands[1]->value > 0);
    case Op::AShr:
    case Op::SRem: return of(0);
    case Op::UDiv:
    case Op::URem:
    case Op::SDiv: return of(0) && of(1);
    case Op::Add:
    case Op::Mul: return (e->flags & NoSignedWrap) && of(0) && of(1);
    case Op::Ite: return of(1) && of(2);
    default: return false;
    }
  }

  std::unordered_map<Expr, bool> known;
};

} // namespace

bool isNonNegative(Expr e) { return Signs().isNonNegative(e); }

Expr withoutPrefix(ExprContext& exprs, Expr e, Expr prefix) {
  if (isTrue(prefix)) return e;
  std::vector<Expr> wanted = conjunctsOf(prefix), have = conjunctsOf(e);
  Expr rest = exprs.boolean(true);
  std::size_t found = 0;
  for (Expr part : have) {
    if (std::find(wanted.begin(), wanted.end(), part) != wanted.end())
      ++found;
    else
      rest = exprs.logicalAnd(rest, part);
  }
  if (found == wanted.size()) return rest;
  if (e->op != Op::Or || e->width != 1) return nullptr;
  Expr left = withoutPrefix(exprs, e->operands[0], prefix);
  Expr right = left ? withoutPrefix(exprs, e->operands[1], prefix) : nullptr;
  return right ? exprs.logicalOr(left, right) : nullptr;
}

Expr whereHolds(ExprContext& exprs, Expr e, Expr known) {
  if (e->op == Op::Or && e->width == 1)
    return exprs.logicalOr(whereHolds(exprs, e->operands[0], known),
                           whereHolds(exprs, e->operands[1], known));
  const std::vector<Expr> parts = conjunctsOf(known);
  Expr rest = exprs.boolean(true);
  for (Expr part : conjunctsOf(e))
    if (std::ranges::find(parts, part) == parts.end()) rest = exprs.logicalAnd(rest, part);
  return rest;
}

} // namespace kcheck::analyzer
