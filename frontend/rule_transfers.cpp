// redundant-transfer: data that goes to the host after one kernel and back, untouched, before the next.
#include "frontend/host_rules.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace kcheck::frontend {
namespace {

bool isLoop(const clang::Stmt* statement) {
  return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(statement);
}

/// Whether the first always runs before the second, once for each time.
bool alwaysBefore(const Step& first, const Step& second) {
  if (first.blocks.size() > second.blocks.size() ||
      !std::equal(first.blocks.begin(), first.blocks.end(), second.blocks.begin()))
    return false;
  return std::none_of(second.blocks.begin() + std::ptrdiff_t(first.blocks.size()), second.blocks.end(),
                      isLoop);
}

/// Whether the host uses the buffer between two of its copies.
bool isTouched(const clang::VarDecl* buffer, const Step& from, const Step& to, const HostFunction& function,
               const clang::SourceManager& sources) {
  const auto after = sources.getExpansionLoc(from.call->getEndLoc());
  const auto before = sources.getExpansionLoc(to.call->getBeginLoc());
  return std::ranges::any_of(function.touches, [&](const Touch& touch) {
    const auto alias = function.aliases.find(touch.variable);
    if (touch.variable != buffer && (alias == function.aliases.end() || alias->second != buffer))
      return false;
    const auto where = sources.getExpansionLoc(touch.where);
    return sources.isBeforeInTranslationUnit(after, where) &&
           sources.isBeforeInTranslationUnit(where, before);
  });
}

/// Whether work that is started between two steps is handed the device's buffer, so that it may change it.
bool mayChange(const clang::Expr& device, std::span<const Step> between) {
  const clang::VarDecl* buffer = bufferVariable(device);
  return std::ranges::any_of(between, [&](const Step& step) {
    if (step.kind != StepKind::Launch) return false;
    return !buffer || std::ranges::any_of(step.inner->arguments(), [&](const clang::Expr* argument) {
      return bufferVariable(*argument) == buffer;
    });
  });
}

} // namespace

void findRedundantTransfers(const HostFunction& function, const RuleContext& context) {
  const clang::SourceManager& sources = context.ast.getSourceManager();
  const std::vector<Step>& steps = function.steps;
  for (std::size_t back = 0; back < steps.size(); ++back) {
    const Step& to = steps[back];
    if (to.kind != StepKind::CopyToDevice || to.call != to.inner) continue;
    const clang::VarDecl* buffer = bufferVariable(*to.host);
    if (!buffer || (!buffer->hasLocalStorage() && !buffer->isStaticLocal())) continue;
    for (std::size_t there = back; there-- > 0;) {
      const Step& from = steps[there];
      if (from.kind == StepKind::SetDevice) break; // to another device, perhaps
      if (from.kind == StepKind::CopyToDevice && bufferVariable(*from.host) == buffer) break;
      if (from.kind != StepKind::CopyToHost || from.call != from.inner) continue;
      if (bufferVariable(*from.host) != buffer) continue;
      const auto isLaunch = [](const Step& step) { return step.kind == StepKind::Launch; };
      const bool between = std::any_of(steps.begin(), steps.begin() + std::ptrdiff_t(there), isLaunch) &&
                           std::any_of(steps.begin() + std::ptrdiff_t(back), steps.end(), isLaunch);
      if (!between || textOf(*from.host, context.ast) != textOf(*to.host, context.ast)) break;
      if (mayChange(*from.device, {&steps[there], &steps[back]})) break;
      if (!alwaysBefore(from, to) || isTouched(buffer, from, to, function, sources)) break;
      if (Finding* finding = context.add("redundant-transfer", Severity::Warning, *to.call)) {
        const std::string name = buffer->getNameAsString();
        finding->message =
            fmt::format("`{}` goes back to the device as it came from there: the host does not "
                        "touch it in between",
                        name);
        finding->notes.push_back(
            {locate(from.call->getSourceRange(), context.ast), "copied to the host here"});
        const std::string source = textOf(*from.device, context.ast),
                          target = textOf(*to.device, context.ast);
        finding->hint =
            source == target
                ? fmt::format("leave out both copies: `{}` still holds the data", source)
                : fmt::format("give the next kernel `{}`, or copy with cudaMemcpyDeviceToDevice", source);
      }
      break;
    }
  }
}

} // namespace kcheck::frontend
