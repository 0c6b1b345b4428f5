// pageable-async: asynchronous copies between the device and ordinary host memory.
#include "frontend/host_rules.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <fmt/format.h>
#include <llvm/ADT/StringSwitch.h>

#include <algorithm>

namespace kcheck::frontend {
namespace {

/// `std::vector<float>` with the usual allocator, `std::array`, `std::unique_ptr` with the usual deleter.
bool isOrdinaryContainer(clang::QualType type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->isInStdNamespace() || !record->getIdentifier()) return false;
  const llvm::StringRef name = record->getName();
  if (name == "array") return true;
  const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  if (!special || (name != "vector" && name != "basic_string" && name != "unique_ptr")) return false;
  const clang::TemplateArgument& last = special->getTemplateArgs()[special->getTemplateArgs().size() - 1];
  if (last.getKind() != clang::TemplateArgument::Type) return false;
  const clang::CXXRecordDecl* helper = last.getAsType()->getAsCXXRecordDecl();
  return helper && helper->isInStdNamespace() &&
         (helper->getName() == "allocator" || helper->getName() == "default_delete");
}

bool isHeapCall(const clang::Expr& given) {
  const clang::Expr* expr = given.IgnoreParenCasts();
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expr)) expr = full->getSubExpr()->IgnoreParenCasts();
  if (const auto* made = llvm::dyn_cast<clang::CXXNewExpr>(expr)) return made->getNumPlacementArgs() == 0;
  const auto* call = llvm::dyn_cast<clang::CallExpr>(expr);
  const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  if (!callee || !callee->getIdentifier()) return false;
  return llvm::StringSwitch<bool>(callee->getName())
      .Cases("malloc", "calloc", "realloc", "aligned_alloc", true)
      .Default(false);
}

/// What kind of memory the variable's text shows; empty when it is not known to be ordinary memory.
std::string ordinaryMemory(const clang::VarDecl& variable, const HostUses& uses) {
  if (isOrdinaryContainer(variable.getType())) return "an ordinary container";
  if (variable.getType()->isArrayType()) // of pointers: each may lead to memory of any kind
    return variable.getType()->getBaseElementTypeUnsafe()->isPointerType() ? "" : "an ordinary array";
  if (!variable.getType()->isPointerType() || llvm::isa<clang::ParmVarDecl>(variable)) return "";
  const auto own = uses.variables.find(&variable);
  std::vector<const clang::Expr*> sources;
  if (const clang::Expr* init = variable.getAnyInitializer()) sources.push_back(init);
  if (own != uses.variables.end()) {
    if (own->second.others) return ""; // another function may fill it
    for (const Event& event : own->second.events) {
      if (!event.value) return ""; // cudaMallocHost and its relatives
      sources.push_back(event.value);
    }
  }
  std::erase_if(sources, [&](const clang::Expr* source) {
    return source->IgnoreParenCasts()->isNullPointerConstant(
               const_cast<clang::ASTContext&>(variable.getASTContext()),
               clang::Expr::NPC_ValueDependentIsNotNull) != clang::Expr::NPCK_NotNull;
  });
  const bool heap = !sources.empty() && std::ranges::all_of(sources, [](const clang::Expr* source) {
    return isHeapCall(*source);
  });
  return heap ? "ordinary memory" : "";
}

bool isRegistered(const clang::VarDecl* variable, const HostUses& uses) {
  return std::ranges::any_of(uses.around, [&](const auto& entry) {
    const clang::CallExpr& call = *entry.first;
    return isNamed(call, "cudaHostRegister") && call.getNumArgs() &&
           bufferVariable(*call.getArg(0)) == variable;
  });
}

} // namespace

void findPageableCopies(const HostFunction& function, const RuleContext& context) {
  for (const Step& step : function.steps) {
    const bool copies = step.kind == StepKind::CopyToHost || step.kind == StepKind::CopyToDevice;
    if (!copies || !step.isAsync || step.call != step.inner) continue;
    const clang::VarDecl* variable = bufferVariable(*step.host);
    if (!variable || isRegistered(variable, context.uses)) continue;
    const std::string what = ordinaryMemory(*variable, context.uses);
    if (what.empty()) continue;
    Finding* finding = context.add("pageable-async", Severity::Note, *step.call);
    if (!finding) continue;
    const std::string name = variable->getNameAsString();
    finding->message = fmt::format(
        "`{}` is {}, which is pageable, so this asynchronous copy overlaps with nothing", name, what);
    finding->notes.push_back(
        {locate(variable->getSourceRange(), context.ast), fmt::format("`{}` is made here", name)});
    finding->hint =
        fmt::format("cudaMallocHost for `{}`, or cudaHostRegister, where the overlap matters", name);
  }
}

} // namespace kcheck::frontend
