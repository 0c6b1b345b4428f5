#include "analyzer/model/grid_size.h"

#include "analyzer/kernel_model.h"

#include <algorithm>
#include <cstdint>

namespace kcheck::analyzer {
namespace {

struct Look {
  const KernelModel& model;

  bool isOfFreeGrid(Expr e) const {
    return anyNode(e, [&](Expr part) {
      if (part->op != Op::Symbol) return false;
      const Symbol& symbol = *part->symbol;
      return (symbol.kind == SymbolKind::BlockIdx || symbol.kind == SymbolKind::GridDim) && symbol.axis < 3 &&
             !isConst(model.gridDim[symbol.axis]);
    });
  }

  bool hangs(Expr n) const {
    switch (n->op) {
    case Op::And:
    case Op::Or:
    case Op::Xor: return n->width > 1 && isOfFreeGrid(n);
    case Op::Trunc:
    case Op::URem:
    case Op::SRem: return isOfFreeGrid(n);
    case Op::Eq:
    case Op::Ult:
    case Op::Ule:
    case Op::Slt:
    case Op::Sle: {
      const auto isFar = [](Expr side) { return isConst(side) && side->value > UINT16_MAX; };
      return std::ranges::any_of(n->operands, isFar) && isOfFreeGrid(n);
    }
    default: return false;
    }
  }

  bool hangs(const ModelAccess& access) const {
    const auto hangsHere = [&](Expr n) { return hangs(n); };
    return (access.offset && anyNode(access.offset, hangsHere)) ||
           (access.condition && anyNode(access.condition, hangsHere));
  }
};

} // namespace

bool hangsOnGridSize(const KernelModel& model) {
  const Look look{model};
  return std::ranges::any_of(model.gridPhases, [&](const Phase& phase) {
    return std::ranges::any_of(phase.accesses, [&](const ModelAccess& access) { return look.hangs(access); });
  });
}

} // namespace kcheck::analyzer
