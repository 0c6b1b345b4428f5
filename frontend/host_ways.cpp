// The ways that lead to a call: through the calls of its function, the passes of the loops around it, and
// branches.
#include "frontend/host_folder.h"
#include "frontend/host_loops.h"
#include "frontend/host_values.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace kcheck::frontend {

namespace {
constexpr std::size_t kMostPasses = 16; ///< of a loop that are told apart
constexpr std::size_t kMostWays = 256;
constexpr unsigned kDeepestCall = 4;
} // namespace

namespace {

bool holds(clang::BinaryOperatorKind op, std::int64_t a, std::int64_t b) {
  switch (op) {
  case clang::BO_LT: return a < b;
  case clang::BO_LE: return a <= b;
  case clang::BO_GT: return a > b;
  case clang::BO_GE: return a >= b;
  case clang::BO_NE: return a != b;
  default: return a == b;
  }
}

std::optional<std::int64_t> next(const clang::Expr& update, std::int64_t value, std::int64_t by) {
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&update))
    return value + (unary->isIncrementOp() ? 1 : -1);
  switch (llvm::cast<clang::CompoundAssignOperator>(update).getOpcode()) {
  case clang::BO_AddAssign: return value + by;
  case clang::BO_SubAssign: return value - by;
  case clang::BO_MulAssign: return value * by;
  case clang::BO_DivAssign: return by == 0 ? std::optional<std::int64_t>() : value / by;
  case clang::BO_ShlAssign: return by < 0 || by > 31 ? std::optional<std::int64_t>() : value << by;
  case clang::BO_ShrAssign: return by < 0 || by > 31 ? std::optional<std::int64_t>() : value >> by;
  default: return std::nullopt;
  }
}

/// The elements that `for (int n : {32, 64})` goes through.
const clang::InitListExpr* listOf(const clang::Expr& range, const HostValues& values) {
  const clang::Expr* expr = range.IgnoreParenImpCasts();
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expr))
    expr = full->getSubExpr()->IgnoreParenImpCasts();
  if (const auto* made = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(expr))
    expr = made->getSubExpr()->IgnoreParenImpCasts();
  if (const auto* made = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expr))
    expr = made->getSubExpr()->IgnoreParenImpCasts();
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(expr)) return list;
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(expr);
  const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  const clang::Expr* definition = variable ? values.definition(*variable) : nullptr;
  if (!definition) return nullptr;
  definition = definition->IgnoreParenImpCasts();
  return definition == expr ? nullptr : listOf(*definition, values);
}

} // namespace

const clang::VarDecl* HostValues::soleCounter(const clang::ForStmt& loop) const {
  const clang::VarDecl* counter = counterOf(loop);
  const auto entry = counter ? uses.variables.find(counter->getCanonicalDecl()) : uses.variables.end();
  const bool isCounted = entry != uses.variables.end() && entry->second.loop == &loop && counter->getInit();
  return isCounted && !hasOtherUses(*counter) && entry->second.events.empty() ? counter : nullptr;
}

/// The values that a loop's counter takes, where they are known and few.
std::optional<std::vector<std::int64_t>> HostValues::passes(const clang::Stmt& loop,
                                                            const ScopePointer& scope) const {
  std::vector<std::int64_t> all;
  if (const auto* range = llvm::dyn_cast<clang::CXXForRangeStmt>(&loop)) {
    const clang::InitListExpr* list = range->getRangeInit() ? listOf(*range->getRangeInit(), *this) : nullptr;
    if (!list || list->getNumInits() > kMostPasses) return std::nullopt;
    for (const clang::Expr* element : list->inits()) {
      const auto value = integer(*element, scope);
      if (!value) return std::nullopt;
      all.push_back(*value);
    }
    return all;
  }
  const auto& counted = llvm::cast<clang::ForStmt>(loop);
  const clang::VarDecl* counter = soleCounter(counted);
  if (!counter) return std::nullopt;
  const auto limit = limitOf(counted, *counter);
  if (!limit) return std::nullopt;
  const clang::Expr& update = *counted.getInc()->IgnoreParenImpCasts();
  std::optional<std::int64_t> by = 1;
  if (const auto* compound = llvm::dyn_cast<clang::CompoundAssignOperator>(&update))
    by = integer(*compound->getRHS(), scope);
  const auto first = integer(*counter->getInit(), scope), bound = integer(*limit->second, scope);
  if (!by || !first || !bound) return std::nullopt;
  for (std::optional<std::int64_t> value = first; value && holds(limit->first, *value, *bound);
       value = next(update, *value, *by)) {
    if (all.size() == kMostPasses || *value > INT32_MAX || *value < INT32_MIN) return std::nullopt;
    all.push_back(*value);
  }
  return all;
}

namespace {
std::shared_ptr<Scope> passOf(const clang::Stmt& loop, bool isExchanged, const ScopePointer& way) {
  auto pass = std::make_shared<Scope>();
  pass->loop = &loop;
  pass->isExchanged = isExchanged;
  pass->outer = way;
  return pass;
}
} // namespace

bool HostValues::isExcluded(const Around& around, const ScopePointer& scope) const {
  if (uses.hasLabels) return false;
  for (const Guard& guard : around.guards) {
    if (guard.within) continue;
    const auto value = Folder(*this, scope).number(*guard.condition);
    if (!value) continue;
    if (guard.cases.empty() && (value->asReal() != 0) != guard.must) return true;
    const auto isOther = [&](const clang::Expr* label, bool other) {
      const auto known = Folder(*this, scope).number(*label);
      return known && (known->asReal() != value->asReal()) == other;
    };
    const auto isOneOf = [&](const clang::Expr* label) { return isOther(label, false); };
    const auto isNotIt = [&](const clang::Expr* label) { return isOther(label, true); };
    if (!guard.cases.empty() &&
        (guard.must ? std::ranges::all_of(guard.cases, isNotIt) : std::ranges::any_of(guard.cases, isOneOf)))
      return true;
  }
  return false;
}

/// Ways to a call within its function, for each way to the function.
std::vector<ScopePointer> HostValues::waysAt(const clang::CallExpr& call, Search search) const {
  const auto found = uses.around.find(&call);
  if (found == uses.around.end()) return {nullptr};
  std::vector<ScopePointer> ways = waysTo(found->second.function, search);
  for (const clang::Stmt* loop : found->second.loops) {
    std::vector<ScopePointer> inside;
    for (const ScopePointer& way : ways) {
      const bool exchanges = uses.exchanges.contains(loop);
      const auto values = passes(*loop, way);
      if (!values) { // what depends on this loop's counter stays unknown
        if (!exchanges) inside.push_back(way);
        for (const bool isExchanged : {false, true})
          if (exchanges) inside.push_back(passOf(*loop, isExchanged, way));
        continue;
      }
      const clang::VarDecl* counter = nullptr;
      if (const auto* range = llvm::dyn_cast<clang::CXXForRangeStmt>(loop))
        counter = range->getLoopVariable();
      else
        counter = counterOf(*llvm::cast<clang::ForStmt>(loop));
      std::size_t number = 0;
      for (const std::int64_t value : *values) {
        auto pass = passOf(*loop, exchanges && number++ % 2 == 1, way);
        pass->counters[counter->getCanonicalDecl()] = value;
        inside.push_back(std::move(pass));
      }
    }
    ways = std::move(inside);
    if (ways.size() > kMostWays) return ways; // too many: the caller gives up
  }
  std::erase_if(ways, [&](const ScopePointer& way) { return isExcluded(found->second, way); });
  return inBranches(found->second, std::move(ways));
}

namespace {

/// `n == 64` where that must hold, `n != 64` where it must not, also as a part of what must hold.
void addEqualities(const clang::Expr& condition, bool must,
                   std::vector<const clang::BinaryOperator*>& equalities) {
  const clang::Expr* plain = condition.IgnoreParenImpCasts();
  if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(plain); op && op->getOpcode() == clang::UO_LNot)
    return addEqualities(*op->getSubExpr(), !must, equalities);
  const auto* op = llvm::dyn_cast<clang::BinaryOperator>(plain);
  if (!op) return;
  if (op->getOpcode() == (must ? clang::BO_LAnd : clang::BO_LOr)) {
    addEqualities(*op->getLHS(), must, equalities);
    addEqualities(*op->getRHS(), must, equalities);
  }
  if (op->getOpcode() == (must ? clang::BO_EQ : clang::BO_NE)) equalities.push_back(op);
}

ScopePointer branchOf(std::pair<const clang::VarDecl*, std::int64_t> known, const ScopePointer& way) {
  auto branch = std::make_shared<Scope>();
  branch->counters.insert(known);
  branch->outer = way;
  return branch;
}

} // namespace

std::vector<ScopePointer> HostValues::inBranches(const Around& around, std::vector<ScopePointer> ways) const {
  if (uses.hasLabels) return ways;
  for (const Guard& guard : around.guards) {
    if (guard.within) continue;
    std::vector<const clang::BinaryOperator*> equalities;
    if (guard.cases.empty()) addEqualities(*guard.condition, guard.must, equalities);
    std::vector<ScopePointer> inside;
    for (ScopePointer way : ways) {
      for (const clang::BinaryOperator* equality : equalities) {
        Folder folder(*this, way);
        auto known = folder.equalTo(*equality->getLHS(), *equality->getRHS());
        if (!known) known = folder.equalTo(*equality->getRHS(), *equality->getLHS());
        if (known) way = branchOf(*known, way);
      }
      std::vector<ScopePointer> cases;
      for (const clang::Expr* label : guard.must ? guard.cases : std::vector<const clang::Expr*>())
        if (const auto known = Folder(*this, way).equalTo(*guard.condition, *label))
          cases.push_back(branchOf(*known, way));
      if (cases.empty() || cases.size() < guard.cases.size()) cases = {way};
      inside.insert(inside.end(), cases.begin(), cases.end());
    }
    ways = std::move(inside);
    if (ways.size() > kMostWays) return ways;
  }
  return ways;
}

/// Whether it is handed a function, as those are that launch what they are given.
static bool takesFunction(const clang::FunctionDecl& function) {
  return std::ranges::any_of(function.parameters(), [](const clang::ParmVarDecl* parameter) {
    const clang::QualType type = parameter->getType().getNonReferenceType();
    return type->isFunctionPointerType() || type->isFunctionType();
  });
}

/// Of a lambda: whether what it has captured is of the function's call in which it is called. It may be kept
/// from an earlier one.
bool HostValues::isOfThisCall(const clang::CallExpr& call) const {
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call.getDirectCallee());
  if (!method || !method->getParent()->isLambda()) return true;
  const auto* called = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
  if (!called) return false;
  const clang::Expr* object = &copiedFrom(*called->getArg(0));
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(object)) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    const auto* function =
        variable ? llvm::dyn_cast<clang::FunctionDecl>(variable->getDeclContext()) : nullptr;
    const auto around = uses.around.find(&call);
    if (!function || around == uses.around.end() || around->second.function != function->getCanonicalDecl())
      return false;
    if (!variable->hasLocalStorage() || variable->getType()->isReferenceType() || !variable->getInit())
      return false;
    object = &copiedFrom(*variable->getInit());
  }
  return llvm::isa<clang::LambdaExpr>(object);
}

std::vector<ScopePointer> HostValues::waysTo(const clang::FunctionDecl* function, Search search) const {
  if (!function || search.depth == 0 || !uses.functions.contains(function)) return {nullptr};
  if (!callsAreKnown(*function) && !(search.inSight && takesFunction(*function))) return {nullptr};
  std::vector<ScopePointer> ways;
  const auto& calls = uses.functions.at(function).calls;
  if (calls.empty()) return {nullptr};
  for (const clang::CallExpr* call : calls) {
    if (!isOfThisCall(*call)) return {nullptr};
    for (const ScopePointer& outer : waysAt(*call, {search.depth - 1, search.inSight})) {
      auto entered = Folder(*this, outer).enter(*call);
      if (!entered) return {nullptr};
      ways.push_back(std::move(*entered));
      if (ways.size() > kMostWays) return ways;
    }
  }
  return ways;
}

std::optional<std::vector<ScopePointer>> HostValues::scopesAt(const clang::CallExpr& call) const {
  std::vector<ScopePointer> ways = waysAt(call, {kDeepestCall, false});
  if (ways.size() > kMostWays) return std::nullopt;
  return ways;
}

std::optional<std::vector<ScopePointer>> HostValues::scopesInSightOf(const clang::CallExpr& call) const {
  std::vector<ScopePointer> ways = waysAt(call, {kDeepestCall, true});
  if (ways.size() > kMostWays) return std::nullopt;
  return ways;
}

} // namespace kcheck::frontend
