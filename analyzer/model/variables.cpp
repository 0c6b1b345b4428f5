// Source variables: which value each has where an access happens, for witnesses that speak the program's
// words.
#include "analyzer/model/execution.h"

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
    bool known = isa<ConstantInt>(v) || isa<llvm::Argument>(v) || isRelevant(v);
    if (!known || record.getExpression()->getNumElements() != 0) {
      variables.erase(variable);
      continue;
    }
    const DILocation* where = record.getDebugLoc();
    Expr shown = value(v);
    if (isUnsigned(*variable) && shown->width > 1 && shown->width < 64)
      shown = exprs.extend(Op::ZExt, 64, shown);
    variables[variable] = {variable->getScope(), where ? where->getInlinedAt() : nullptr,
                           variable->getName().str(), shown};
  }
}

namespace {
/// Small, and made of numbers alone: what memory holds says nothing in a witness.
bool isPlain(Expr e) {
  std::size_t nodes = 0;
  return !anyNode(e, [&](Expr n) { return n->op == Op::Apply || ++nodes > 60; });
}
} // namespace

/// The integer variables in scope.
void Execution::nameLocals(const Instruction& instruction, ModelAccess& access) {
  const DILocation* where = instruction.getDebugLoc();
  if (!where) return;
  constexpr std::size_t kMostLocals = 12;
  for (auto& [key, variable] : variables) {
    if (variable.inlinedAt != where->getInlinedAt() || access.locals.size() == kMostLocals) continue;
    const DIScope* scope = where->getScope();
    while (scope && scope != variable.scope) scope = scope->getScope();
    if (scope && isPlain(variable.value)) access.locals[variable.name] = variable.value;
  }
}

} // namespace kcheck::analyzer
