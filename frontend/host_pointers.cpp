// Pointers into buffers, and the buffers that allocation calls make.
#include "frontend/formula_parts.h"
#include "frontend/host_folder.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

namespace kcheck::frontend {

std::optional<PointerValue> Folder::pointerOf(const clang::Expr& expr) {
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&expr)) {
    if (cast->getCastKind() == clang::CK_ArrayToPointerDecay) return placeOf(*cast->getSubExpr());
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
  if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(&expr); op && op->getOpcode() == clang::UO_AddrOf)
    return placeOf(*op->getSubExpr());
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

/// Where an element or a member of what a pointer leads to lies.
std::optional<PointerValue> Folder::placeOf(const clang::Expr& lvalue) {
  const clang::Expr& expr = *lvalue.IgnoreParens();
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(&expr))
    return shifted(*element->getBase(), *element->getIdx(), element->getType(), 1);
  if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(&expr); op && op->getOpcode() == clang::UO_Deref)
    return pointer(*op->getSubExpr());
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&expr)) { // to a base class
    auto result = placeOf(*cast->getSubExpr());
    if (result && cast->getCastKind() != clang::CK_NoOp) result->byteOffset.reset();
    return result;
  }
  const auto* member = llvm::dyn_cast<clang::MemberExpr>(&expr);
  const auto* field = member ? llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl()) : nullptr;
  if (!field || field->getType()->isReferenceType()) return std::nullopt;
  auto result = member->isArrow() ? pointer(*member->getBase()) : placeOf(*member->getBase());
  if (result && result->byteOffset)
    *result->byteOffset += ast.toCharUnitsFromBits(std::int64_t(ast.getFieldOffset(field))).getQuantity();
  return result;
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

/// The pitch that the driver chooses is one number for all that asks for it behind one call.
std::optional<Formula> Folder::pitchOf(const clang::CallExpr& call) {
  if (!holders.empty() || call.getNumArgs() < 4) return std::nullopt;
  auto width = formula(*call.getArg(2));
  if (!width) return std::nullopt;
  Buffers::Places calls{&call};
  for (ScopePointer s = scopeOf(call, scope, values.uses); s; s = s->outer)
    if (s->function) calls.push_back(s->entry);
  Formula padding;
  padding.op = Formula::Op::Variable;
  padding.variable = "padding in " + nameOf(*call.getArg(1), ast);
  padding.number = values.buffers.numberOf(call.getDirectCallee(), calls, {});
  return combined(Formula::Op::Add, std::move(*width), std::move(padding));
}

/// How many bytes an allocation asks for, perhaps through a helper.
std::optional<Formula> Folder::bytesOf(const clang::CallExpr& call) {
  const auto kind = allocationCall(call);
  if (kind && kind->inHelper) {
    auto entered = enter(call);
    if (!entered) return std::nullopt;
    std::swap(scope, *entered);
    auto bytes = bytesOf(*kind->inHelper);
    std::swap(scope, *entered);
    return bytes;
  }
  if (kind && kind->size) return formula(*call.getArg(*kind->size));
  if (!isNamed(call, "cudaMallocPitch")) return std::nullopt;
  auto pitch = pitchOf(call);
  auto rows = pitch ? formula(*call.getArg(3)) : std::nullopt;
  return rows ? std::optional(combined(Formula::Op::Mul, std::move(*pitch), std::move(*rows))) : std::nullopt;
}

std::size_t Folder::buffer(const clang::CallExpr& call) {
  const ScopePointer outside = scopeOf(call, scope, values.uses);
  Buffers::Key key{{&call, 0}};
  append(key, outside);
  const std::size_t buffer = values.buffers.find(key, [&] {
    Allocation fresh;
    fresh.name = nameOf(*call.getArg(allocationCall(call)->pointer), ast);
    fresh.where = locate(call.getSourceRange(), ast);
    fresh.formula = Folder(values, outside).bytesOf(call);
    if (fresh.formula && fresh.formula->op == Formula::Op::Constant) {
      if (fresh.formula->constant >= 0) fresh.bytes = std::uint64_t(fresh.formula->constant);
      fresh.formula.reset();
    }
    return fresh;
  });
  // Made in some round or call before: of a size that may have been another number then.
  if (Allocation& made = values.buffers.at(buffer); made.formula && !holders.empty()) {
    Folder inside(values, outside);
    inside.holders = holders;
    if (inside.bytesOf(call) != made.formula) made.formula.reset();
  }
  return buffer;
}

} // namespace kcheck::frontend
