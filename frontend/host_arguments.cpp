#include "frontend/host_arguments.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecordLayout.h>
#include <llvm/ADT/StringExtras.h>

namespace kcheck::frontend {
namespace {

/// A structure whose members lie where they say.
const clang::RecordDecl* plainRecord(clang::QualType type) {
  const clang::RecordDecl* record = type->getAsRecordDecl();
  record = record ? record->getDefinition() : nullptr;
  return record && !record->isUnion() && !record->isInvalidDecl() && !record->isDependentType() ? record
                                                                                                : nullptr;
}

std::uint32_t offsetOf(const clang::FieldDecl& field, const clang::ASTContext& ast) {
  const clang::ASTRecordLayout& layout = ast.getASTRecordLayout(field.getParent());
  return std::uint32_t(
      ast.toCharUnitsFromBits(std::int64_t(layout.getFieldOffset(field.getFieldIndex()))).getQuantity());
}

void setInteger(std::int64_t value, std::uint32_t at, std::uint64_t bytes, PassedValue& result) {
  for (std::uint64_t i = 0; i < bytes && at + i < result.bytes.size(); ++i)
    result.bytes[at + i] = std::uint8_t(std::uint64_t(value) >> (8 * i));
}

} // namespace

void HostArguments::members(const clang::Expr& expr, std::vector<const clang::FieldDecl*>& path,
                            const clang::RecordDecl& type, std::uint32_t at, const ScopePointer& scope,
                            PassedValue& result) const {
  for (const clang::FieldDecl* field : type.fields()) {
    if (field->isBitField()) continue;
    path.push_back(field->getCanonicalDecl());
    const std::uint32_t where = at + offsetOf(*field, ast);
    if (field->getType()->isPointerType()) {
      const auto pointer = values.pointerMember(expr, path, scope);
      if (pointer && pointer->byteOffset)
        result.pointers.push_back({where, pointer->allocation, *pointer->byteOffset});
    } else if (field->getType()->isIntegralOrEnumerationType()) {
      if (const auto number = values.integerMember(expr, path, scope))
        setInteger(*number, where, std::uint64_t(ast.getTypeSizeInChars(field->getType()).getQuantity()),
                   result);
    } else if (const clang::RecordDecl* nested = plainRecord(field->getType())) {
      members(expr, path, *nested, where, scope, result);
    }
    path.pop_back();
  }
}

bool HostArguments::isWhole(const clang::RecordDecl& type, std::uint32_t at,
                            const PassedValue& passed) const {
  for (const clang::FieldDecl* field : type.fields()) {
    const std::uint32_t where = at + offsetOf(*field, ast);
    if (field->getType()->isPointerType()) {
      if (std::ranges::none_of(passed.pointers, [&](const auto& pointer) { return pointer.at == where; }))
        return false;
    } else if (field->getType()->isIntegralOrEnumerationType()) {
      if (where < passed.bytes.size() && !passed.bytes[where]) return false;
    } else if (const clang::RecordDecl* nested = plainRecord(field->getType())) {
      if (!isWhole(*nested, where, passed)) return false;
    }
  }
  return true;
}

bool HostArguments::isComplete(const std::vector<Argument>& arguments,
                               const clang::FunctionDecl& kernel) const {
  for (unsigned i = 0; i < std::min<std::size_t>(arguments.size(), kernel.getNumParams()); ++i) {
    const clang::QualType type = kernel.getParamDecl(i)->getType();
    const Argument& argument = arguments[i];
    if (type->isPointerType() ? !argument.allocation || !argument.byteOffset
                              : type->isIntegralOrEnumerationType() && !argument.value)
      return false;
    if (const clang::RecordDecl* record = plainRecord(type); record && argument.passed)
      if (!isWhole(*record, 0, *argument.passed)) return false;
  }
  return true;
}

Argument HostArguments::describe(const clang::Expr& expr, const ScopePointer& scope) const {
  Argument argument;
  argument.text = textOf(expr, ast);
  if (expr.getType()->isPointerType()) {
    if (const auto pointer = values.pointer(expr, scope)) {
      argument.allocation = pointer->allocation;
      argument.byteOffset = pointer->byteOffset;
    }
  } else if (const clang::RecordDecl* type = plainRecord(expr.getType())) {
    PassedValue passed;
    passed.bytes.resize(std::size_t(ast.getTypeSizeInChars(expr.getType()).getQuantity()));
    std::vector<const clang::FieldDecl*> path;
    members(expr, path, *type, 0, scope, passed);
    argument.passed = std::move(passed);
  } else {
    argument.value = values.integer(expr, scope);
    if (!argument.value) argument.formula = values.formula(expr, scope);
    if (!argument.value)
      if (const auto range = values.range(expr, scope)) {
        argument.passed.emplace();
        argument.passed->range = range;
      }
  }
  return argument;
}

std::vector<Argument> HostArguments::describe(std::span<const clang::Expr* const> passed,
                                              const ScopePointer& scope) const {
  std::vector<Argument> arguments;
  for (const clang::Expr* one : passed) arguments.push_back(one ? describe(*one, scope) : Argument());
  joinPlaces(passed, scope, arguments);
  return arguments;
}

std::vector<Argument> HostArguments::describeArray(const clang::Expr& expr, unsigned count,
                                                   const ScopePointer& scope) const {
  std::vector<const clang::Expr*> passed(count);
  const auto* array = llvm::dyn_cast<clang::DeclRefExpr>(expr.IgnoreParenCasts());
  const auto* variable = array ? llvm::dyn_cast<clang::VarDecl>(array->getDecl()) : nullptr;
  const auto* list =
      variable && variable->getInit() ? llvm::dyn_cast<clang::InitListExpr>(variable->getInit()) : nullptr;
  if (list && values.definition(*variable) == list)
    for (unsigned i = 0; i < std::min(count, list->getNumInits()); ++i) {
      const auto* address = llvm::dyn_cast<clang::UnaryOperator>(list->getInit(i)->IgnoreParenCasts());
      if (address && address->getOpcode() == clang::UO_AddrOf)
        passed[i] = address->getSubExpr()->IgnoreParens();
    }
  return describe(passed, scope);
}

/// An index as its value, or as what is written, where that has no effects.
std::string HostArguments::indexText(const clang::Expr& index, const ScopePointer& scope) const {
  if (const auto value = values.integer(index, scope)) return std::to_string(*value);
  return index.HasSideEffects(ast) ? std::string() : textOf(index, ast);
}

std::optional<HostArguments::Placed> HostArguments::moved(const clang::Expr& base, const clang::Expr& index,
                                                          int sign, const ScopePointer& scope) const {
  auto result = placeOf(base, scope);
  if (!result || !base.getType()->isPointerType()) return std::nullopt;
  const clang::QualType element = base.getType()->getPointeeType();
  const auto count = values.integer(index, scope);
  if (!count || !result->byteOffset || element->isIncompleteType())
    result->byteOffset = std::nullopt;
  else
    *result->byteOffset += sign * *count * ast.getTypeSizeInChars(element).getQuantity();
  return result;
}

std::optional<HostArguments::Placed> HostArguments::placeOf(const clang::Expr& given,
                                                            const ScopePointer& scope) const {
  const auto within = [&](const clang::Expr& base, const std::string& rest) -> std::optional<Placed> {
    auto result = placeOf(base, scope);
    if (!result || rest.empty() || result->byteOffset != 0) return std::nullopt;
    result->place += rest;
    return result;
  };
  const clang::Expr& expr = *given.IgnoreParenCasts();
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(&expr)) return placeOf(*full->getSubExpr(), scope);
  if (const auto* made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(&expr))
    return placeOf(*made->getSubExpr(), scope);
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&expr))
    return Placed{llvm::utohexstr(std::uint64_t(
                      reinterpret_cast<std::uintptr_t>(reference->getDecl()->getCanonicalDecl()))),
                  0};
  if (llvm::isa<clang::CXXThisExpr>(expr)) return Placed{"this", 0};
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&expr))
    return within(*member->getBase(), "." + member->getMemberDecl()->getNameAsString());
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(&expr)) {
    const std::string index = indexText(*element->getIdx(), scope);
    return index.empty() ? std::nullopt : within(*element->getBase(), "[" + index + "]");
  }
  if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(&expr)) {
    if (op->getOpcode() == clang::UO_Deref) return within(*op->getSubExpr(), "[0]");
    if (op->getOpcode() != clang::UO_AddrOf) return std::nullopt;
    const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(op->getSubExpr()->IgnoreParens());
    return element ? moved(*element->getBase(), *element->getIdx(), 1, scope) : std::nullopt;
  }
  if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(&expr); op && op->isAdditiveOp()) {
    const bool left = op->getLHS()->getType()->isPointerType();
    return moved(left ? *op->getLHS() : *op->getRHS(), left ? *op->getRHS() : *op->getLHS(),
                 op->getOpcode() == clang::BO_Sub ? -1 : 1, scope);
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(&expr)) { // `buffer.data()`
    const clang::CXXMethodDecl* method = call->getMethodDecl();
    const std::string name = method ? method->getNameAsString() : std::string();
    const bool keeps = method && (method->isConst() || name == "data" || name == "get");
    return keeps && call->getNumArgs() == 0 ? within(*call->getImplicitObjectArgument(), "." + name + "()")
                                            : std::nullopt;
  }
  if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&expr)) {
    if (call->getOperator() == clang::OO_Subscript && call->getNumArgs() == 2) {
      const std::string index = indexText(*call->getArg(1), scope);
      return index.empty() ? std::nullopt : within(*call->getArg(0), "[" + index + "]");
    }
    const bool leads = call->getOperator() == clang::OO_Star || call->getOperator() == clang::OO_Arrow;
    return leads && call->getNumArgs() == 1 ? within(*call->getArg(0), "[0]") : std::nullopt;
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr);
      call && call->getNumArgs() == 1 && isNamed(*call, "raw_pointer_cast"))
    return placeOf(*call->getArg(0), scope);
  return std::nullopt;
}

/// What is read at one place is one pointer, wherever it leads.
void HostArguments::joinPlaces(std::span<const clang::Expr* const> passed, const ScopePointer& scope,
                               std::vector<Argument>& arguments) const {
  std::map<std::string, std::vector<std::pair<std::size_t, std::optional<std::int64_t>>>> places;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    if (!passed[i] || !passed[i]->getType()->isPointerType() || arguments[i].allocation) continue;
    if (auto placed = placeOf(*passed[i], scope)) places[placed->place].emplace_back(i, placed->byteOffset);
  }
  for (const auto& [place, users] : places) {
    if (users.size() < 2) continue;
    const std::size_t buffer = buffers.find({{passed[users.front().first], 0}}, [&] {
      Allocation fresh;
      fresh.name = arguments[users.front().first].text;
      return fresh;
    });
    for (const auto& [number, byteOffset] : users) {
      arguments[number].allocation = buffer;
      arguments[number].byteOffset = byteOffset;
    }
  }
}

} // namespace kcheck::frontend
