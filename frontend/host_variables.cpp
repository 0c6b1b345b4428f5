// Variables of host code in formulas: each of their values is known by what has made it.
#include "frontend/formula_parts.h"
#include "frontend/host_folder.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace kcheck::frontend {

/// `n /= 2` and the like, of numbers that are not negative.
static bool shrinks(const clang::Expr& change) {
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&change))
    return unary->isDecrementOp() && !unary->getType()->isUnsignedIntegerType();
  const auto& compound = llvm::cast<clang::CompoundAssignOperator>(change);
  if (compound.getOpcode() == clang::BO_SubAssign) return false; // of a negative number it goes up
  return compound.getOpcode() == clang::BO_DivAssign || compound.getOpcode() == clang::BO_ShrAssign;
}

/// What cudaMallocPitch chooses: no less than the width that it was asked for, of the least one of several.
std::optional<Formula> Folder::leastPitch(const clang::VarDecl& variable, const VariableUses& own) {
  std::optional<std::int64_t> width;
  for (const Event& event : own.events) {
    const bool isPitch = event.allocation && isNamed(*event.allocation, "cudaMallocPitch");
    const auto asked = isPitch ? number(*event.allocation->getArg(2)) : std::nullopt;
    if (!asked || asked->isFloat) return std::nullopt;
    width = std::min(width.value_or(asked->integer), asked->integer);
  }
  if (!width) return std::nullopt;
  Formula padding;
  padding.op = Formula::Op::Variable;
  padding.variable = "padding in " + variable.getNameAsString();
  padding.number = values.buffers.numberOf(&variable, callsTo(variable), {});
  return combined(Formula::Op::Add, ofConstant(*width), std::move(padding));
}

std::optional<Formula> Folder::formulaOfVariable(const clang::VarDecl& variable, const clang::Expr& user) {
  if (variable.getType()->isReferenceType()) return std::nullopt;
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
    for (ScopePointer s = scope; s; s = s->outer)
      if (const auto entry = s->arguments.find(parameter); entry != s->arguments.end())
        return within(s->outer, *entry->second, &Folder::formula);
    const auto arguments = values.argumentsFor(*parameter);
    if (arguments.size() == 1) return within(nullptr, *arguments.front(), &Folder::formula);
  } else if (const clang::Expr* definition = values.definition(variable)) {
    if (auto value = formula(*definition)) return value;
    if (isBeyondNumbers(*definition)) return std::nullopt;
  }
  const clang::SourceLocation here = user.getBeginLoc();
  const bool isBehind = askedIn.isValid() && contains(ast.getSourceManager(), askedIn, here);
  return formulaAt(variable, isBehind ? askedAt : here);
}

/// The last event in front of the place, not on the way to its own value.
const Event* Folder::lastInText(const std::vector<Event>& events, clang::SourceLocation place) const {
  const clang::SourceManager& sources = ast.getSourceManager();
  const Event* last = nullptr;
  for (const Event& event : events) {
    const bool isWithin = event.value && !isBefore(sources, event.value->getEndLoc(), place);
    if (!isWithin && isBefore(sources, event.where, place) &&
        (!last || isBefore(sources, last->where, event.where)))
      last = &event;
  }
  return last;
}

/// What tells the values of a variable apart. Between two places that have no event between them in the text,
/// and of which both are in a loop that changes it or neither is, nothing happens in one round.
std::vector<const void*> Folder::stateAt(const clang::VarDecl& variable, const std::vector<Event>& events,
                                         clang::SourceLocation place) const {
  const clang::SourceManager& sources = ast.getSourceManager();
  std::vector<const void*> state;
  std::set<const void*> rounds;
  for (const Event& event : events)
    for (const clang::SourceRange& round : event.rounds)
      if (contains(sources, round, place) && !contains(sources, round, variable.getLocation()))
        rounds.insert(reinterpret_cast<const void*>(std::uintptr_t(round.getBegin().getRawEncoding())));
  if (const Event* last = lastInText(events, place)) state.push_back(last);
  state.insert(state.end(), rounds.begin(), rounds.end());
  return state;
}

/// The variable of formulas for something that has one value in that state.
Formula Folder::standsFor(const clang::ValueDecl& named, const Buffers::Places& calls,
                          const Buffers::Places& state) {
  Formula formula;
  formula.op = Formula::Op::Variable;
  formula.variable = named.getNameAsString();
  formula.number = values.buffers.numberOf(&named, calls, state);
  if (const auto bits = ast.getIntWidth(named.getType()); bits < kIntBits)
    formula.most = (std::int64_t(1) << (bits - named.getType()->isSignedIntegerType())) - 1;
  formula.mayDivide = values.uses.askedForRemainder.contains(formula.variable);
  return formula;
}

/// What the last assignment before has given it, or branches have; else the variable stands for itself.
std::optional<Formula> Folder::formulaAt(const clang::VarDecl& variable, clang::SourceLocation place) {
  const bool isParameter = llvm::isa<clang::ParmVarDecl>(variable);
  const auto entry = values.uses.variables.find(variable.getCanonicalDecl());
  static const VariableUses none;
  const VariableUses& own = entry == values.uses.variables.end() ? none : entry->second;
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
  if (!function || !variable.hasLocalStorage() || !isFollowed(variable)) return std::nullopt;
  if (own.loop) { // one number in each of its rounds
    const bool isInRound = holders.empty() && own.events.empty() &&
                           contains(ast.getSourceManager(), own.loop->getSourceRange(), place) &&
                           !isInOtherFunction(place, *function);
    return isInRound && variable.getType()->isIntegerType()
               ? std::optional(standsFor(variable, callsTo(variable), {own.loop}))
               : std::nullopt;
  }
  const bool isOnlyOne = isSettled(variable, place);
  if (!own.events.empty()) {
    const Latest latest = lastBefore(own.events, variable, place, true);
    const clang::Expr* value = latest.event   ? latest.event->value
                               : !isParameter ? variable.getInit()
                                              : nullptr;
    if (latest.known && value)
      if (auto known = formula(*value)) return known;
    if (!latest.known)
      if (auto known = chosen(variable, own.events, place, &Folder::formula)) return known;
    if (isOnlyOne && own.events.size() == 1 && own.events.front().allocation)
      if (auto pitch = through(own.events.front(), &Folder::formula)) return pitch;
    if (auto value = isOnlyOne ? leastPitch(variable, own) : std::nullopt) return value;
  }
  const bool isOfFunction = std::ranges::all_of(
      own.events, [&](const Event& event) { return event.function == function->getCanonicalDecl(); });
  const bool isKept = !own.events.empty() && holders.empty() && isOfFunction && !values.uses.hasLabels &&
                      !isInOtherFunction(place, *function);
  if (!isOnlyOne && !isKept) return std::nullopt;
  Formula result = standsFor(variable, callsTo(variable), stateAt(variable, own.events, place));
  if (const auto most = own.events.empty() ? std::nullopt : mostOf(variable, own))
    result.most = std::min(result.most, *most);
  return result;
}

/// Whether a lambda's body is around the place and not around the variable: who knows when it is run.
bool Folder::isInOtherFunction(clang::SourceLocation place, const clang::FunctionDecl& function) const {
  const clang::SourceManager& sources = ast.getSourceManager();
  const clang::Stmt* body = function.getBody();
  return !body || std::ranges::any_of(values.uses.lambdas, [&](const clang::SourceRange& lambda) {
    return contains(sources, lambda, place) && !contains(sources, lambda, body->getBeginLoc());
  });
}

/// The number of a structure that is handed over by value and not changed, or of an object that only its
/// constructors set.
std::optional<Formula> Folder::formulaOfMember(const clang::MemberExpr& member) {
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(member.getMemberDecl());
  if (!field || !field->getType()->isIntegerType()) return std::nullopt;
  const auto inMethods = values.uses.fieldUses.find(field->getCanonicalDecl());
  const bool isTouched =
      inMethods != values.uses.fieldUses.end() &&
      (inMethods->second.others || std::ranges::any_of(inMethods->second.ofThis, [&](const Event& event) {
         const clang::FunctionDecl* made = event.function->getDefinition();
         const bool isHere =
             !made || contains(ast.getSourceManager(), made->getSourceRange(), member.getBeginLoc());
         return isHere || !llvm::isa<clang::CXXConstructorDecl>(event.function);
       }));
  const auto isAssigned = [&](const auto& isIt) {
    return std::ranges::any_of(values.uses.fields, [&](const auto& entry) { return isIt(entry.first); });
  };
  std::vector<const void*> calls;
  if (const clang::FieldDecl* own = fieldOfThis(member)) {
    if (auto value = fieldOfObject(*own, &Folder::formula)) return value;
    if (isTouched || !holders.empty() ||
        isAssigned([&](const Slot& slot) { return slot.path.back() == own; }))
      return std::nullopt;
    for (ScopePointer s = scope; s; s = s->outer)
      if (s->function) calls.push_back(s->entry);
    return standsFor(*own, calls, {});
  }
  const auto slot = readSlotOf(member);
  if (!slot) return std::nullopt;
  if (auto value = fieldAt(*slot, member, &Folder::formula)) return value;
  const clang::VarDecl& root = *slot->root;
  const auto whole = values.uses.variables.find(&root);
  const bool isWhole = whole == values.uses.variables.end() || whole->second.events.empty();
  if (isTouched || !isWhole || !root.hasLocalStorage() || root.getType()->isReferenceType() ||
      !isFollowed(root) || !livesAsLong(root) ||
      isAssigned([&](const Slot& one) { return one.root == &root; }))
    return std::nullopt;
  calls = callsTo(root);
  calls.push_back(&root);
  calls.insert(calls.end(), slot->path.begin(), slot->path.end());
  return standsFor(*field, calls, {});
}

/// What `n *= 2` makes of a number; none where it is no step up, or goes too far.
std::optional<std::int64_t> Folder::steppedUp(const clang::Expr& change, std::int64_t from) {
  const auto* compound = llvm::dyn_cast<clang::CompoundAssignOperator>(&change);
  const auto by = compound ? number(*compound->getRHS()) : std::optional(ofInteger(1));
  if (!by || by->isFloat || by->integer < 0 || by->integer > INT32_MAX) return std::nullopt;
  std::int64_t result = 0;
  const auto kind = compound ? compound->getOpcode() : clang::BO_AddAssign;
  if (kind == clang::BO_AddAssign)
    result = from + by->integer;
  else if (kind == clang::BO_MulAssign)
    result = from * by->integer;
  else if (kind == clang::BO_ShlAssign && by->integer < 31)
    result = from << by->integer;
  return result > from && result <= INT32_MAX ? std::optional(result) : std::nullopt;
}

/// `n < 256` as a part of what must hold: the first number that is too large.
std::optional<std::int64_t> Folder::limitIn(const clang::Expr& condition, const clang::VarDecl& variable) {
  const auto* op = llvm::dyn_cast<clang::BinaryOperator>(condition.IgnoreParenImpCasts());
  if (!op) return std::nullopt;
  if (op->getOpcode() == clang::BO_LAnd) {
    const auto first = limitIn(*op->getLHS(), variable), second = limitIn(*op->getRHS(), variable);
    return first && second ? std::min(first, second) : first ? first : second;
  }
  const auto isVariable = [&](const clang::Expr* side) {
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(side->IgnoreParenImpCasts());
    return reference && reference->getDecl() == &variable;
  };
  const bool isLeft = isVariable(op->getLHS());
  if (!isLeft && !isVariable(op->getRHS())) return std::nullopt;
  const auto kind = !op->isComparisonOp() ? op->getOpcode()
                    : isLeft              ? op->getOpcode()
                                          : clang::BinaryOperator::reverseComparisonOp(op->getOpcode());
  const auto bound = number(isLeft ? *op->getRHS() : *op->getLHS());
  if (!bound || bound->isFloat || (kind != clang::BO_LT && kind != clang::BO_LE)) return std::nullopt;
  return bound->integer + (kind == clang::BO_LE);
}

/// The most that a variable ever holds which begins with one number and which loops make larger up to a
/// limit, or smaller.
std::optional<std::int64_t> Folder::mostOf(const clang::VarDecl& variable, const VariableUses& own) {
  const auto start = !llvm::isa<clang::ParmVarDecl>(variable) && variable.getInit()
                         ? number(*variable.getInit())
                         : std::nullopt;
  if (!start || start->isFloat || start->integer < 0 || start->integer > INT32_MAX) return std::nullopt;
  std::int64_t most = start->integer;
  const Event* step = nullptr;
  for (const Event& event : own.events) {
    if (event.value) {
      const auto value = number(*event.value);
      if (!value || value->isFloat || value->integer < 0) return std::nullopt;
      most = std::max(most, value->integer);
    } else if (!event.change || !shrinks(*event.change)) {
      if (step || !event.change) return std::nullopt; // of two steps the one begins where the other ends
      step = &event;
    }
  }
  if (!step) return most;
  const auto limit = step->again ? limitIn(*step->again, variable) : std::nullopt;
  if (!limit || *limit < 1) return std::nullopt;
  if (own.events.size() > 1) return steppedUp(*step->change, std::max(most, *limit - 1));
  constexpr unsigned kMostRounds = 4096;
  std::optional<std::int64_t> value = most;
  for (unsigned rounds = 0; value && *value < *limit && rounds < kMostRounds; ++rounds)
    value = steppedUp(*step->change, *value);
  return value && *value >= *limit ? value : std::nullopt;
}

namespace {

Formula choiceOf(Formula condition, Formula first, Formula second) {
  return made(Formula::Op::Choice, {std::move(condition), std::move(first), std::move(second)});
}

} // namespace

/// Of extents axis by axis.
Formulas choiceOf(const Formula& condition, const Formulas& first, const Formulas& second) {
  Formulas result;
  for (std::size_t axis = 0; axis < result.size(); ++axis)
    if (first[axis] && second[axis])
      result[axis] = first[axis] == second[axis]
                         ? first[axis]
                         : std::optional(choiceOf(condition, *first[axis], *second[axis]));
  return result;
}

/// What branches in front of the place may have given it: `if (n > 256) n = 256;`.
template <typename Value>
std::optional<Value> Folder::chosen(const clang::VarDecl& variable, const std::vector<Event>& events,
                                    clang::SourceLocation place, Evaluate<Value> evaluate) {
  const clang::SourceManager& sources = ast.getSourceManager();
  constexpr unsigned kMostChoices = 200; // each may be asked for by several behind it
  const Event* last = lastInText(events, place);
  if (!last || !holders.empty() || ++choices > kMostChoices) return std::nullopt;
  const Branch* outermost = nullptr;
  clang::SourceRange region = last->region;
  for (auto branch = last->branches.rbegin(); branch != last->branches.rend(); ++branch) {
    if (contains(sources, region, place)) break;
    if (branch->part != region) return std::nullopt;
    outermost = &*branch;
    region = branch->outside;
  }
  if (!outermost || !isInSameRound(region, last->where, place)) return std::nullopt;
  if (std::ranges::any_of(events, [&](const Event& event) {
        return isBefore(sources, last->where, event.where) && mayComeBetween(event, last->where, place);
      }))
    return std::nullopt;
  return behind(variable, events, *outermost, evaluate);
}

/// Behind a branch that may give it another value.
template <typename Value>
std::optional<Value> Folder::behind(const clang::VarDecl& variable, const std::vector<Event>& events,
                                    const Branch& branch, Evaluate<Value> evaluate) {
  const clang::SourceManager& sources = ast.getSourceManager();
  const Event* last = nullptr;
  for (const Event& event : events)
    if (contains(sources, branch.part, event.where) && (!last || isBefore(sources, last->where, event.where)))
      last = &event;
  if (!last) return std::nullopt;
  auto condition = truth(branch.guard);
  std::optional<Value> taken;
  if (last->region == branch.part)
    taken = condition && last->value ? (this->*evaluate)(*last->value) : std::nullopt;
  else
    for (const Branch& inner : last->branches)
      if (condition && inner.outside == branch.part) taken = behind(variable, events, inner, evaluate);
  if (!taken) return std::nullopt;
  std::optional<Value> otherwise;
  if constexpr (std::is_same_v<Value, Formula>)
    otherwise = formulaAt(variable, branch.part.getBegin());
  else
    otherwise = atPlace(variable, branch.part.getBegin(), evaluate);
  return otherwise ? std::optional(choiceOf(*condition, *taken, *otherwise)) : std::nullopt;
}

template std::optional<Formulas> Folder::chosen(const clang::VarDecl&, const std::vector<Event>&,
                                                clang::SourceLocation, Evaluate<Formulas>);

/// What a function returns whose last statements these are: `if (n < 256) return n; return 256;`.
std::optional<Formula> Folder::returned(std::span<clang::Stmt* const> statements) {
  if (statements.empty()) return std::nullopt;
  const clang::Stmt& first = *statements.front();
  if (const auto* end = llvm::dyn_cast<clang::ReturnStmt>(&first))
    return end->getRetValue() ? formula(*end->getRetValue()) : std::nullopt;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&first); block && statements.size() == 1)
    return returned({block->body_begin(), block->body_end()});
  const auto* branch = llvm::dyn_cast<clang::IfStmt>(&first);
  if (!hasReturn(first)) return returned(statements.subspan(1));
  if (!branch) return std::nullopt;
  const clang::Stmt* other = branch->getElse();
  auto condition = truth(*branch->getCond());
  clang::Stmt* then[] = {const_cast<clang::Stmt*>(branch->getThen())};
  clang::Stmt* otherwise[] = {const_cast<clang::Stmt*>(other)};
  auto taken = condition ? returned(then) : std::nullopt;
  auto others = !taken ? std::nullopt : other ? returned(otherwise) : returned(statements.subspan(1));
  if (!others) return std::nullopt;
  return choiceOf(std::move(*condition), std::move(*taken), std::move(*others));
}

} // namespace kcheck::frontend
