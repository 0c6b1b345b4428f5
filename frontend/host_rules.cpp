#include "frontend/host_rules.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Stmt.h>

#include <algorithm>

namespace kcheck::frontend {

Finding* RuleContext::add(const char* rule, Severity severity, const clang::Stmt& where) const {
  const Location place = locate(where.getSourceRange(), ast);
  // Templates are looked at once per instantiation.
  const bool known = std::ranges::any_of(
      findings, [&](const Finding& other) { return other.rule == rule && other.where == place; });
  if (known) return nullptr;
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.verdict = Verdict::Proved;
  finding.where = place;
  findings.push_back(std::move(finding));
  return &findings.back();
}

std::vector<Finding> applyHostRules(const clang::ASTContext& ast, const HostUses& uses,
                                    const HostValues& values) {
  std::vector<Finding> findings;
  const RuleContext context{ast, uses, values, findings};
  for (const HostFunction& function : hostFunctions(ast)) {
    findUnsynchronizedTiming(function, context);
    findRedundantTransfers(function, context);
    findSmallHostArrays(function, context);
    findPageableCopies(function, context);
  }
  findWideArithmetic(context);
  findDeviceVariables(context);
  return findings;
}

} // namespace kcheck::frontend
