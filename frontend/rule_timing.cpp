// unsynchronized-timing: a clock, a launch, the clock again, and nothing in between that waits; and the time
// of an event that nobody has waited for.
#include "frontend/host_rules.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <fmt/format.h>

namespace kcheck::frontend {
namespace {

bool waits(const Step& step) {
  const bool copies = step.kind == StepKind::CopyToHost || step.kind == StepKind::CopyToDevice;
  return step.kind == StepKind::Wait || (copies && !step.isAsync);
}

/// Work of cuBLAS, cuFFT or cuRAND, and no kernel's.
bool isLibrarys(const Step& launch) {
  const clang::FunctionDecl* callee = launch.inner->getDirectCallee();
  return !llvm::isa<clang::CUDAKernelCallExpr>(launch.inner) && callee &&
         !callee->getName().starts_with("cuda");
}

/// Whether the program waits and looks at the clock again: then both times are wanted.
bool timesTheEndAsWell(const std::vector<Step>& steps, std::size_t from) {
  bool waited = false;
  for (std::size_t i = from; i < steps.size(); ++i) {
    if (steps[i].kind == StepKind::Launch) return false;
    if (steps[i].kind == StepKind::Clock && waited) return true;
    waited |= waits(steps[i]);
  }
  return false;
}

} // namespace

void findUnsynchronizedTiming(const HostFunction& function, const RuleContext& context) {
  const Step *clock = nullptr, *launch = nullptr, *recorded = nullptr;
  for (std::size_t i = 0; i < function.steps.size(); ++i) {
    const Step& step = function.steps[i];
    if (waits(step)) launch = nullptr, recorded = nullptr;
    if (step.kind == StepKind::Launch && clock) launch = &step;
    if (step.kind == StepKind::RecordEvent) recorded = &step;
    if (step.kind == StepKind::ElapsedTime && recorded && recorded->call != step.call) {
      if (Finding* finding = context.add("unsynchronized-timing", Severity::Warning, *step.call)) {
        finding->message = "the elapsed time is asked for before anything has waited for the event";
        finding->notes.push_back({locate(recorded->call->getSourceRange(), context.ast), "recorded here"});
        finding->hint = "cudaEventSynchronize on the second event before cudaEventElapsedTime";
      }
      recorded = nullptr;
    }
    if (step.kind != StepKind::Clock) continue;
    if (launch && launch->call != step.call && !timesTheEndAsWell(function.steps, i + 1))
      if (Finding* finding = context.add("unsynchronized-timing", Severity::Warning, *step.call)) {
        finding->message =
            fmt::format("the clock is read while {} may still run, so the time is that of the {} alone",
                        isLibrarys(*launch) ? "the library's work" : "the kernel",
                        isLibrarys(*launch) ? "call" : "launch");
        finding->notes.push_back({locate(launch->call->getSourceRange(), context.ast),
                                  fmt::format("{} here, and nothing waits for it",
                                              isLibrarys(*launch) ? "it starts" : "the kernel is launched")});
        finding->hint = "cudaDeviceSynchronize() before the clock is read";
      }
    clock = &step;
    launch = nullptr;
  }
}

} // namespace kcheck::frontend
