// out-of-bounds: copies between the device and a host array of fewer bytes. What malloc and new have given,
// the run looks at (runtime/core/host_heap.h).
#include "frontend/host_rules.h"

#include "frontend/host_values.h"
#include "frontend/pretty.h"
#include "report/counted.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

namespace kcheck::frontend {
namespace {

struct HostArray {
  const clang::VarDecl* variable = nullptr;
  std::int64_t bytes = 0; ///< from the place that the expression names to the array's end
  bool isWhole = true;
};

/// Of `a`, `&a`, `&a[2]` and `a + 2`, where the size of a is known.
std::optional<HostArray> arrayBehind(const clang::Expr& given, const RuleContext& context) {
  const clang::Expr* expr = given.IgnoreParenCasts();
  std::int64_t skipped = 0;
  const auto skip = [&](const clang::Expr& index, clang::QualType element) {
    const auto count = context.values.integer(index);
    if (count) skipped += *count * context.ast.getTypeSizeInChars(element).getQuantity();
    return count.has_value();
  };
  if (const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(expr);
      sum && sum->getOpcode() == clang::BO_Add) {
    if (!sum->getLHS()->getType()->isPointerType() || !skip(*sum->getRHS(), sum->getType()->getPointeeType()))
      return {};
    expr = sum->getLHS()->IgnoreParenCasts();
  }
  if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(expr);
      address && address->getOpcode() == clang::UO_AddrOf) {
    expr = address->getSubExpr()->IgnoreParenCasts();
    if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(expr)) {
      if (!skip(*element->getIdx(), element->getType())) return {};
      expr = element->getBase()->IgnoreParenCasts();
      if (!expr->getType()->isArrayType()) return {};
    }
  } else if (!expr->getType()->isArrayType()) {
    return {};
  }
  const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(expr);
  const auto* variable = named ? llvm::dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
  if (!variable || variable->getType()->isReferenceType() || !variable->getType()->isConstantSizeType() ||
      variable->getType()->isDependentType() || variable->getType()->isIncompleteType())
    return {};
  return HostArray{variable, context.ast.getTypeSizeInChars(variable->getType()).getQuantity() - skipped,
                   skipped == 0};
}

} // namespace

void findSmallHostArrays(const HostFunction& function, const RuleContext& context) {
  for (const Step& step : function.steps) {
    const bool toHost = step.kind == StepKind::CopyToHost;
    if ((!toHost && step.kind != StepKind::CopyToDevice) || step.call != step.inner || !step.host ||
        !(isNamed(*step.call, "cudaMemcpy") || isNamed(*step.call, "cudaMemcpyAsync")))
      continue;
    const auto array = arrayBehind(*step.host, context);
    const auto count = context.values.integer(*step.call->getArg(2));
    if (!array || !count || *count <= array->bytes) continue;
    Finding* finding = context.add("out-of-bounds", Severity::Error, *step.call);
    if (!finding) continue;
    const std::string name = array->variable->getNameAsString();
    finding->message = fmt::format("{} {} copied {} `{}`, which has {}{}", counted(*count, "byte"),
                                   *count == 1 ? "is" : "are", toHost ? "to" : "from", name, array->bytes,
                                   array->isWhole ? "" : " from there on");
    finding->hint = "the count is in bytes, and both sides need as many";
    finding->notes.push_back(
        {locate(array->variable->getSourceRange(), context.ast), fmt::format("`{}` is declared here", name)});
  }
}

} // namespace kcheck::frontend
