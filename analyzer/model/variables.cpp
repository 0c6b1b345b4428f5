// Source variables: which value each has where an access happens, for witnesses that speak the program's
// words.
#include "analyzer/model/execution.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"

using namespace llvm;

namespace kcheck::analyzer {

/// Of an unsigned number, `const` or by another name too.
static bool isUnsigned(const DILocalVariable& variable) {
  const DIType* type = variable.getType();
  while (const auto* derived = dyn_cast_or_null<DIDerivedType>(type)) type = derived->getBaseType();
  const auto* basic = dyn_cast_or_null<DIBasicType>(type);
  return basic && basic->getSignedness() == DIBasicType::Signedness::Unsigned;
}

void Execution::noteVariables(const Instruction& instruction) {
  if (!recording) return;
  for (DbgVariableRecord& record : filterDbgVars(instruction.getDbgRecordRange())) {
    if (!record.isDbgValue() || record.getNumVariableLocationOps() != 1) continue;
    const Value* v = record.getVariableLocationOp(0);
    const DILocalVariable* variable = record.getVariable();
    if (!v || !v->getType()->isIntegerTy() || variable->getName().empty() || variable->isParameter())
      continue;
    const DILocation* where = record.getDebugLoc();
    auto& notes = variables[variable];
    const BasicBlock* block = instruction.getParent();
    std::erase_if(notes, [&](const Variable& note) { return note.block == block; });
    bool known = isa<ConstantInt>(v) || isa<llvm::Argument>(v) || isRelevant(v);
    if (!known || record.getExpression()->getNumElements() != 0) {
      notes.push_back({block, variable->getScope(), where ? where->getInlinedAt() : nullptr, "", nullptr});
      continue;
    }
    Expr shown = value(v);
    if (isUnsigned(*variable) && shown->width > 1 && shown->width < 64)
      shown = exprs.extend(Op::ZExt, 64, shown);
    notes.push_back({block, variable->getScope(), where ? where->getInlinedAt() : nullptr,
                     variable->getName().str(), shown});
  }
}

namespace {
/// Small, and made of numbers alone: what memory holds says nothing in a witness.
bool isPlain(Expr e) {
  std::size_t nodes = 0;
  return !anyNode(e, [&](Expr n) { return n->op == Op::Apply || ++nodes > 60; });
}
} // namespace

/// What the variable is at the instruction: what the nearest block above it left, where no way from there
/// passes another one that sets it, and loops that were left since are settled. Null where that is not known.
const Execution::Variable* Execution::variableAt(const std::vector<Variable>& notes,
                                                 const BasicBlock* here) const {
  const Variable* nearest = nullptr;
  std::set<const BasicBlock*> setting;
  for (const Variable& note : notes) {
    setting.insert(note.block);
    if (state.dominators.dominates(note.block, here) &&
        (!nearest || state.dominators.dominates(nearest->block, note.block)))
      nearest = &note;
  }
  if (!nearest || !nearest->value || nearest->block == here) return nearest;
  std::vector<const BasicBlock*> todo(pred_begin(here), pred_end(here));
  std::set<const BasicBlock*> seen{nearest->block};
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    if (setting.count(block)) return nullptr;
    todo.insert(todo.end(), pred_begin(block), pred_end(block));
  }
  return nearest;
}

/// The integer variables in scope.
void Execution::nameLocals(const Instruction& instruction, ModelAccess& access) {
  const DILocation* where = instruction.getDebugLoc();
  if (!where) return;
  constexpr std::size_t kMostLocals = 12;
  const BasicBlock* here = instruction.getParent();
  for (auto& [key, notes] : variables) {
    if (access.locals.size() == kMostLocals) return;
    const Variable* variable = variableAt(notes, here);
    if (!variable || !variable->value || variable->inlinedAt != where->getInlinedAt()) continue;
    const DIScope* scope = where->getScope();
    while (scope && scope != variable->scope) scope = scope->getScope();
    if (!scope) continue;
    Expr shown = atExit(variable->block, here, variable->value);
    if (isPlain(shown)) access.locals[variable->name] = shown;
  }
}

} // namespace kcheck::analyzer
