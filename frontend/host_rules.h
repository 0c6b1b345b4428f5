// Rules about host code and about the text of kernels that need no model: one function per rule, each in a
// file of its own. What is reported is in the text, whatever the program's input.
#pragma once

#include "frontend/host_steps.h"
#include "report/finding.h"

namespace kcheck::frontend {

class HostValues;

struct RuleContext {
  const clang::ASTContext& ast;
  const HostUses& uses;
  const HostValues& values;
  std::vector<Finding>& findings;

  /// A finding at an expression; null when there is one of the rule at that place already.
  Finding* add(const char* rule, Severity severity, const clang::Stmt& where) const;
};

void findUnsynchronizedTiming(const HostFunction& function, const RuleContext& context);
void findRedundantTransfers(const HostFunction& function, const RuleContext& context);
void findSmallHostArrays(const HostFunction& function, const RuleContext& context);
void findPageableCopies(const HostFunction& function, const RuleContext& context);
void findWideArithmetic(const RuleContext& context);
void findDeviceVariables(const RuleContext& context);

std::vector<IgnoredCall> ignoredCalls(clang::ASTContext& ast);

/// All rules over a translation unit.
std::vector<Finding> applyHostRules(const clang::ASTContext& ast, const HostUses& uses,
                                    const HostValues& values);

} // namespace kcheck::frontend
