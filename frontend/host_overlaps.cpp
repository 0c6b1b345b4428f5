#include "frontend/host_overlaps.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace kcheck::frontend {
namespace {

const clang::Expr& plain(const clang::Expr& expr) {
  const clang::Expr* inner = expr.IgnoreParenCasts();
  while (const auto* full = llvm::dyn_cast<clang::FullExpr>(inner))
    inner = full->getSubExpr()->IgnoreParenCasts();
  return *inner;
}

Meeting joined(Meeting a, Meeting b) { return std::max(a, b); }

/// The pointer that another place of the same array is counted from; null where it is none.
const clang::Expr* movedFrom(const clang::Expr& expr) {
  if (const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(&expr); sum && sum->isAdditiveOp())
    return sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS();
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(&expr);
  if (address && address->getOpcode() != clang::UO_AddrOf) return nullptr;
  if (!address && !expr.getType()->isArrayType()) return nullptr;
  const clang::Expr* place = address ? address->getSubExpr() : &expr; // an element, or a member, of what?
  do {
    place = place->IgnoreParenImpCasts();
    if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(place))
      place = element->getBase();
    else if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(place))
      place = member->getBase();
    else
      return nullptr;
  } while (!place->IgnoreParenImpCasts()->getType()->isPointerType());
  return place->IgnoreParenImpCasts();
}

/// What may give a variable or field its value.
struct Source {
  const clang::Expr* value = nullptr;
  const clang::CallExpr* allocation = nullptr;
  const clang::CompoundStmt* in = nullptr;
  clang::SourceLocation where;
};

} // namespace

/// One question. Depth and steps are bounded: what lies beyond is no evidence.
class HostOverlaps::Search {
public:
  Search(const HostOverlaps& of, const clang::CallExpr& user, const ScopePointer& scope)
      : ast(of.ast), uses(of.uses), values(of.values), sources(of.ast.getSourceManager()), user(user),
        scope(scope) {}

  Meeting meet(const clang::Expr& a, const clang::Expr& b) {
    constexpr unsigned kDeepest = 8, kMostSteps = 500;
    if (depth >= kDeepest || ++steps > kMostSteps) return Meeting::Never;
    ++depth;
    const Meeting result = meetPlain(plain(a), plain(b));
    --depth;
    return result;
  }

private:
  Meeting meetPlain(const clang::Expr& a, const clang::Expr& b) {
    const auto x = values.pointer(a, scope), y = values.pointer(b, scope);
    if (x && y) {
      if (x->allocation != y->allocation) return Meeting::Never;
      const bool isSame = x->byteOffset && x->byteOffset == y->byteOffset;
      return isSame ? Meeting::AtOnePlace : Meeting::Somewhere;
    }
    const auto *first = llvm::dyn_cast<clang::ConditionalOperator>(&a),
               *second = llvm::dyn_cast<clang::ConditionalOperator>(&b);
    if (first && second && areAlike(*first->getCond(), *second->getCond()))
      return joined(meet(*first->getTrueExpr(), *second->getTrueExpr()),
                    meet(*first->getFalseExpr(), *second->getFalseExpr()));
    if (first) return joined(meet(*first->getTrueExpr(), b), meet(*first->getFalseExpr(), b));
    if (second) return joined(meet(a, *second->getTrueExpr()), meet(a, *second->getFalseExpr()));
    if (const clang::Expr* base = movedFrom(a)) return anywhere(meet(*base, b));
    if (const clang::Expr* base = movedFrom(b)) return anywhere(meet(a, *base));
    if (listIn(a) || listIn(b)) return meetElements(a, b);
    return meetSlots(a, b);
  }

  /// The array that an element is one of, where a list in its declaration fills it.
  static const clang::VarDecl* listIn(const clang::Expr& expr) {
    const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(&expr);
    const auto* array =
        element ? llvm::dyn_cast<clang::DeclRefExpr>(element->getBase()->IgnoreParenImpCasts()) : nullptr;
    const auto* variable = array ? llvm::dyn_cast<clang::VarDecl>(array->getDecl()) : nullptr;
    const bool isFilled = variable && variable->getType()->isArrayType() && variable->getInit() &&
                          llvm::isa<clang::InitListExpr>(variable->getInit());
    return isFilled ? variable : nullptr;
  }

  /// By position; of a place that folds only the one, else any.
  std::vector<std::pair<unsigned, const clang::Expr*>> elementsOf(const clang::Expr& expr) const {
    constexpr unsigned kMost = 16;
    const clang::VarDecl* variable = listIn(expr);
    if (!variable) return {{0, &expr}};
    const auto& list = *llvm::cast<clang::InitListExpr>(variable->getInit());
    const auto at = values.integer(*llvm::cast<clang::ArraySubscriptExpr>(expr).getIdx(), scope);
    std::vector<std::pair<unsigned, const clang::Expr*>> result;
    for (unsigned i = 0; i < std::min(list.getNumInits(), kMost); ++i)
      if (!at || *at == i) result.emplace_back(i, list.getInit(i));
    return result;
  }

  /// Different places of one array are meant to be different elements.
  Meeting meetElements(const clang::Expr& a, const clang::Expr& b) {
    const bool isOneList = listIn(a) == listIn(b);
    Meeting result = Meeting::Never;
    for (const auto& [i, first] : elementsOf(a))
      for (const auto& [j, second] : elementsOf(b))
        if (!isOneList || i != j) result = joined(result, meet(*first, *second));
    return result;
  }

  static Meeting anywhere(Meeting meeting) {
    return meeting == Meeting::Never ? meeting : Meeting::Somewhere;
  }

  bool areAlike(const clang::Expr& a, const clang::Expr& b) const {
    return !a.HasSideEffects(ast) && !b.HasSideEffects(ast) && textOf(a, ast) == textOf(b, ast);
  }

  Meeting meetSlots(const clang::Expr& a, const clang::Expr& b) {
    const auto first = slotIn(a), second = slotIn(b);
    if (first && second && *first == *second) return Meeting::AtOnePlace;
    if (first && second && areParameters(*first, *second)) return meetInCalls(*first, *second);
    const auto ofFirst = first ? sourcesOf(*first) : std::vector<Source>(),
               ofSecond = second ? sourcesOf(*second) : std::vector<Source>();
    if (first && second && areSwapped(*first, *second)) return meetAny(startsOf(*first), startsOf(*second));
    if (inPairs(ofFirst, ofSecond)) {
      Meeting result = Meeting::Never;
      for (std::size_t i = 0; i < ofFirst.size(); ++i) result = joined(result, meet(ofFirst[i], ofSecond[i]));
      return result;
    }
    // By copies: one of them is what the other was made from.
    Meeting result = Meeting::Never;
    for (const Source& source : ofFirst)
      if (source.value && !isStale(source)) result = joined(result, meet(*source.value, b));
    for (const Source& source : ofSecond)
      if (source.value && !isStale(source)) result = joined(result, meet(a, *source.value));
    return result;
  }

  Meeting meet(const Source& a, const Source& b) {
    if (!a.value || !b.value || isStale(a) || isStale(b)) return Meeting::Never;
    return meet(*a.value, *b.value);
  }

  Meeting meetAny(const std::vector<Source>& a, const std::vector<Source>& b) {
    Meeting result = Meeting::Never;
    for (const Source& x : a)
      for (const Source& y : b) result = joined(result, meet(x, y));
    return result;
  }

  static std::optional<Slot> slotIn(const clang::Expr& expr) { return readSlotOf(expr); }

  bool areParameters(const Slot& a, const Slot& b) const {
    return a.path.empty() && b.path.empty() && llvm::isa<clang::ParmVarDecl>(a.root) &&
           llvm::isa<clang::ParmVarDecl>(b.root) && a.root->getDeclContext() == b.root->getDeclContext() &&
           sourcesOf(a).empty() && sourcesOf(b).empty();
  }

  /// What each call passes for the two.
  Meeting meetInCalls(const Slot& a, const Slot& b) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(a.root->getDeclContext());
    const auto found = function ? uses.functions.find(function->getCanonicalDecl()) : uses.functions.end();
    if (found == uses.functions.end()) return Meeting::Never;
    const unsigned first = llvm::cast<clang::ParmVarDecl>(a.root)->getFunctionScopeIndex(),
                   second = llvm::cast<clang::ParmVarDecl>(b.root)->getFunctionScopeIndex();
    Meeting result = Meeting::Never;
    for (const clang::CallExpr* call : found->second.calls) {
      if (llvm::isa<clang::CXXOperatorCallExpr>(call) || std::max(first, second) >= call->getNumArgs())
        continue;
      Search outside(*this, *call);
      result = joined(result, outside.meet(*call->getArg(first), *call->getArg(second)));
    }
    return result;
  }

  Search(const Search& of, const clang::CallExpr& call)
      : ast(of.ast), uses(of.uses), values(of.values), sources(of.sources), user(call), depth(of.depth),
        steps(of.steps) {}

  /// Values that may still be there at the user. Exchanges are looked at by themselves.
  std::vector<Source> sourcesOf(const Slot& slot) const {
    std::vector<Source> result;
    const auto variable = uses.variables.find(slot.root);
    const std::vector<Event>* events = nullptr;
    if (slot.path.empty()) {
      if (slot.root->getInit() && !llvm::isa<clang::ParmVarDecl>(slot.root))
        result.push_back({slot.root->getInit(), nullptr,
                          variable == uses.variables.end() ? nullptr : variable->second.declaredIn,
                          slot.root->getLocation()});
      if (variable != uses.variables.end()) events = &variable->second.events;
    } else if (const auto fields = uses.fields.find(slot); fields != uses.fields.end()) {
      events = &fields->second;
    }
    for (std::size_t i = 0; events && i < events->size(); ++i) {
      const Event& event = (*events)[i];
      if (event.value && uses.inSwaps.contains(event.value)) continue;
      if (!isOverwritten(event.where, *events))
        result.push_back({event.value, event.allocation, event.in, event.where});
    }
    if (events && !result.empty() && result.front().value == slot.root->getInit() &&
        isOverwritten(slot.root->getLocation(), *events))
      result.erase(result.begin());
    return result;
  }

  /// Whether another value surely takes its place between there and the user.
  bool isOverwritten(clang::SourceLocation where, const std::vector<Event>& events) const {
    const bool isBehind = isBefore(user.getBeginLoc(), where);
    return std::ranges::any_of(events, [&](const Event& event) {
      if (event.value && uses.inSwaps.contains(event.value)) return false;
      if (!event.in || !holds(*event.in, user.getBeginLoc()) || !isBefore(event.where, user.getBeginLoc()))
        return false;
      return isBehind ? !event.rounds.empty() && holds(*event.in, where) : isBefore(where, event.where);
    });
  }

  /// Of a copy: whether what was copied may have got another value before the user comes to it. Then the two
  /// may be different in every way there.
  bool isStale(const Source& source) const {
    const auto slot = slotIn(plain(*source.value));
    const auto variable = slot ? uses.variables.find(slot->root) : uses.variables.end();
    if (variable == uses.variables.end() || !slot->path.empty()) return false;
    const bool isBehind = isBefore(user.getBeginLoc(), source.where); // of an earlier round
    return std::ranges::any_of(variable->second.events, [&](const Event& event) {
      if (event.value && uses.inSwaps.contains(event.value)) return false;
      const bool isLater = isBefore(source.where, event.where),
                 isEarlier = isBefore(event.where, user.getBeginLoc());
      return isBehind ? !event.rounds.empty() && (isLater || isEarlier) : isLater && isEarlier;
    });
  }

  bool areSwapped(const Slot& a, const Slot& b) const {
    return a.path.empty() && b.path.empty() &&
           (uses.swaps.contains({a.root, b.root}) || uses.swaps.contains({b.root, a.root}));
  }

  std::vector<Source> startsOf(const Slot& slot) const { return sourcesOf(slot); }

  /// Both are given new values in the same blocks: then those of one block belong together.
  static bool inPairs(const std::vector<Source>& a, const std::vector<Source>& b) {
    return !a.empty() && std::ranges::equal(a, b, [](const Source& x, const Source& y) {
      return x.value && y.value && x.in && x.in == y.in;
    });
  }

  bool isBefore(clang::SourceLocation a, clang::SourceLocation b) const {
    return sources.isBeforeInTranslationUnit(sources.getExpansionLoc(a), sources.getExpansionLoc(b));
  }

  bool holds(const clang::CompoundStmt& block, clang::SourceLocation where) const {
    return !isBefore(where, block.getBeginLoc()) && !isBefore(block.getEndLoc(), where);
  }

  const clang::ASTContext& ast;
  const HostUses& uses;
  const HostValues& values;
  const clang::SourceManager& sources;
  const clang::CallExpr& user;
  ScopePointer scope;
  unsigned depth = 0, steps = 0;
};

Meeting HostOverlaps::meet(const clang::Expr& first, const clang::Expr& second, const clang::CallExpr& user,
                           const ScopePointer& scope) const {
  return Search(*this, user, scope).meet(first, second);
}

} // namespace kcheck::frontend
