#include "analyzer/model/grid_size.h"

#include "analyzer/kernel_model.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

namespace kcheck::analyzer {
namespace {

class Look {
public:
  explicit Look(const KernelModel& model) : model(model) {}

  bool hangs(Expr root) {
    if (!root) return false;
    bool result = false;
    bottomUp(
        root, [&](Expr n) { return seen.contains(n); },
        [&](Expr n) {
          seen.insert(n);
          if (isFreeGrid(n) ||
              std::ranges::any_of(n->operands, [&](Expr part) { return ofGrid.contains(part); }))
            ofGrid.insert(n);
          result |= ofGrid.contains(n) && losesSome(n);
        });
    return result;
  }

private:
  bool isFreeGrid(Expr n) const {
    if (n->op != Op::Symbol) return false;
    const Symbol& symbol = *n->symbol;
    return (symbol.kind == SymbolKind::BlockIdx || symbol.kind == SymbolKind::GridDim) && symbol.axis < 3 &&
           !isConst(model.gridDim[symbol.axis]);
  }

  static bool losesSome(Expr n) {
    switch (n->op) {
    case Op::And:
    case Op::Or:
    case Op::Xor: return n->width > 1;
    case Op::Trunc:
    case Op::URem:
    case Op::SRem: return true;
    case Op::Eq:
    case Op::Ult:
    case Op::Ule:
    case Op::Slt:
    case Op::Sle:
      return std::ranges::any_of(n->operands,
                                 [](Expr side) { return isConst(side) && side->value > UINT16_MAX; });
    default: return false;
    }
  }

  const KernelModel& model;
  std::unordered_set<Expr> seen, ofGrid;
};

} // namespace

bool hangsOnGridSize(const KernelModel& model) {
  if (std::ranges::all_of(model.gridDim, [](Expr extent) { return !extent || isConst(extent); }))
    return false;
  Look look(model);
  return std::ranges::any_of(model.gridPhases, [&](const Phase& phase) {
    return std::ranges::any_of(phase.accesses, [&](const ModelAccess& access) {
      return look.hangs(access.offset) || look.hangs(access.condition);
    });
  });
}

} // namespace kcheck::analyzer
