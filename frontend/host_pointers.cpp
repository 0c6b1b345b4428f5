// Pointers into buffers, and the buffers that allocation calls make.
#include "frontend/host_folder.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

namespace kcheck::frontend {

std::optional<PointerValue> Folder::pointerOf(const clang::Expr& expr) {
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&expr)) {
    const bool keeps = cast->getCastKind() == clang::CK_LValueToRValue ||
                       cast->getCastKind() == clang::CK_BitCast || cast->getCastKind() == clang::CK_NoOp;
    if (!keeps && cast->getCastKind() == clang::CK_UserDefinedConversion) // `operator T*()`
      return pointer(*cast->getSubExpr());
    return keeps ? pointer(*cast->getSubExpr()) : std::nullopt;
  }
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(&expr)) return pointer(*full->getSubExpr());
  if (const auto* subst = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(&expr))
    return pointer(*subst->getReplacement());
  if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(&expr); op && op->isAdditiveOp())
    return moved(*op);
  if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(&expr);
      op && op->getOpcode() == clang::UO_AddrOf) {
    const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(op->getSubExpr()->IgnoreParens());
    if (!element || !element->getBase()->IgnoreParenImpCasts()->getType()->isPointerType())
      return std::nullopt;
    return shifted(*element->getBase(), *element->getIdx(), element->getType(), 1);
  }
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    return variable ? throughVariable(*variable, expr, &Folder::pointer) : std::nullopt;
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&expr)) {
    if (const clang::FieldDecl* field = fieldOfThis(*member)) return fieldOfObject(*field, &Folder::pointer);
    const auto slot = readSlotOf(*member);
    return slot ? fieldAt(*slot, expr, &Folder::pointer) : std::nullopt;
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr); call && call->getDirectCallee())
    return throughHelper(*call, &Folder::pointer);
  return std::nullopt;
}

std::optional<PointerValue> Folder::moved(const clang::BinaryOperator& op) {
  const bool left = op.getLHS()->getType()->isPointerType();
  const clang::Expr& base = left ? *op.getLHS() : *op.getRHS();
  const clang::Expr& index = left ? *op.getRHS() : *op.getLHS();
  if (!base.getType()->isPointerType() || !index.getType()->isIntegerType()) return std::nullopt;
  return shifted(base, index, base.getType()->getPointeeType(), op.getOpcode() == clang::BO_Sub ? -1 : 1);
}

std::optional<PointerValue> Folder::shifted(const clang::Expr& base, const clang::Expr& index,
                                            clang::QualType element, int sign) {
  auto result = pointer(base);
  if (!result) return std::nullopt;
  const auto count = number(index);
  if (!count || !result->byteOffset || element->isIncompleteType()) {
    result->byteOffset = std::nullopt;
    return result;
  }
  *result->byteOffset += sign * count->integer * ast.getTypeSizeInChars(element).getQuantity();
  return result;
}

namespace {

/// The part of a scope that matters to a call: where its own function was entered, and the loops around it.
ScopePointer scopeOf(const clang::CallExpr& call, ScopePointer scope, const HostUses& uses) {
  const auto around = uses.around.find(&call);
  if (around == uses.around.end()) return nullptr;
  std::vector<const Scope*> passes;
  while (scope && scope->function != around->second.function) {
    if (!scope->function) passes.push_back(scope.get());
    if (scope->function) passes.clear();
    scope = scope->outer;
  }
  // In main, and where the way is not known, nothing but the loops around tells calls apart.
  for (auto pass = passes.rbegin(); pass != passes.rend(); ++pass) {
    if (std::ranges::find(around->second.loops, (*pass)->loop) == around->second.loops.end()) continue;
    auto kept = std::make_shared<Scope>(**pass);
    kept->outer = scope;
    scope = std::move(kept);
  }
  return scope;
}

void append(Buffers::Key& key, const ScopePointer& scope) {
  for (const Scope* s = scope.get(); s; s = s->outer.get()) {
    for (const auto& [counter, value] : s->counters) key.emplace_back(counter, value);
    if (s->entry) key.emplace_back(s->entry, 0);
  }
}

std::string nameOf(const clang::Expr& pointer, const clang::ASTContext& ast) {
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(pointer.IgnoreParenCasts());
  if (address && address->getOpcode() == clang::UO_AddrOf)
    return textOf(*address->getSubExpr()->IgnoreParens(), ast);
  if (pointer.IgnoreParenCasts()->isLValue() && pointer.getType()->isPointerType() &&
      pointer.getType()->getPointeeType()->isPointerType() == false)
    return textOf(pointer, ast); // of a helper that takes a reference
  return "*" + textOf(*pointer.IgnoreParenCasts(), ast);
}

} // namespace

std::size_t Folder::buffer(const clang::CallExpr& call) {
  const auto kind = allocationCall(call);
  const ScopePointer outside = scopeOf(call, scope, values.uses);
  Buffers::Key key{{&call, 0}};
  append(key, outside);
  const auto sizeOf = [&](Folder& inside) -> const clang::Expr* {
    const clang::CallExpr& leaf = kind->inHelper ? *kind->inHelper : call;
    if (kind->inHelper) {
      auto entered = inside.enter(call);
      if (!entered) return nullptr;
      inside.scope = std::move(*entered);
    }
    const auto own = kind->inHelper ? allocationCall(leaf) : kind;
    return own && own->size ? leaf.getArg(*own->size) : nullptr;
  };
  const std::size_t buffer = values.buffers.find(key, [&] {
    Allocation fresh;
    fresh.name = nameOf(*call.getArg(kind->pointer), ast);
    fresh.where = locate(call.getSourceRange(), ast);
    Folder inside(values, outside);
    const clang::Expr* size = sizeOf(inside);
    const auto bytes = size ? inside.number(*size) : std::nullopt;
    if (bytes && !bytes->isFloat && bytes->integer >= 0)
      fresh.bytes = std::uint64_t(bytes->integer);
    else if (size)
      fresh.formula = inside.formula(*size);
    return fresh;
  });
  // Made in some round or call before: of a size that may have been another number then.
  if (Allocation& made = values.buffers.at(buffer); made.formula && !holders.empty()) {
    Folder inside(values, outside);
    inside.holders = holders;
    const clang::Expr* size = sizeOf(inside);
    if (!size || inside.formula(*size) != made.formula) made.formula.reset();
  }
  return buffer;
}

} // namespace kcheck::frontend
