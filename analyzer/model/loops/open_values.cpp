// What is still known of header values without a closed form: that they are one of a few (buffers exchanged
// under a condition), which arrays a pointer may point into, how far a number can have come.
#include "analyzer/model/loops/loop_work.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

namespace {

using State = std::vector<Expr>;

constexpr std::size_t kMostStates = 8, kMostChoices = 64;

/// The lesser and the greater of the two constants that it may be.
std::optional<std::pair<std::int64_t, std::int64_t>> choiceOf(Expr e) {
  if (isConst(e)) return std::pair(e->value, e->value);
  if (e->op == Op::ZExt && e->operands[0]->width == 1) return std::pair(std::int64_t(0), std::int64_t(1));
  if (e->op != Op::Ite || !isConst(e->operands[1]) || !isConst(e->operands[2])) return {};
  return std::minmax({e->operands[1]->value, e->operands[2]->value});
}

/// The least and the most that a round adds to `header`, which is what it chooses from; false where that is
/// something else, or may run over.
bool stepsOf(Expr latch, Expr header, std::int64_t& least, std::int64_t& most) {
  constexpr std::int64_t kMostStep = 1 << 20;
  std::vector<Expr> todo{latch};
  bool isFirst = true;
  for (unsigned leaves = 0; !todo.empty(); ++leaves) {
    Expr e = todo.back();
    todo.pop_back();
    if (leaves > 32) return false;
    if (e->op == Op::Ite) {
      todo.insert(todo.end(), {e->operands[1], e->operands[2]});
      continue;
    }
    Sum sum = summands(e, header);
    if (sum.headers != 1 || !sum.noSignedWrap) return false;
    std::int64_t low = 0, high = 0;
    for (Expr term : sum.terms) {
      const auto choice = choiceOf(term);
      if (!choice || std::max(std::abs(choice->first), std::abs(choice->second)) > kMostStep) return false;
      low += choice->first;
      high += choice->second;
    }
    least = isFirst ? low : std::min(least, low);
    most = isFirst ? high : std::max(most, high);
    isFirst = false;
  }
  return true;
}

/// The first condition below the values that still has to be decided: of what a choice goes by, or a part of
/// one bit.
Expr openCondition(const State& values, const std::function<bool(Expr)>& changes) {
  Expr found = nullptr;
  for (Expr value : values)
    if (anyNode(value, [&](Expr n) {
          Expr condition = n->op == Op::Ite ? n->operands[0] : n->width == 1 && changes(n) ? n : nullptr;
          if (condition && !isConst(condition)) found = condition;
          return found != nullptr;
        }))
      break;
  return found;
}

/// All that the values may be together, whatever the conditions in them say. Nothing where that is too much,
/// or where more than conditions changes.
std::optional<std::vector<State>> alternativesOf(ExprContext& c, const State& values,
                                                 const std::function<bool(Expr)>& changes) {
  std::vector<State> todo{values}, result;
  for (std::size_t choices = 0; !todo.empty();) {
    const State now = std::move(todo.back());
    todo.pop_back();
    if (Expr condition = openCondition(now, changes)) {
      if (++choices > kMostChoices) return {};
      for (const bool holds : {false, true}) {
        Substitution decided(c);
        decided.set(condition, c.boolean(holds));
        State& next = todo.emplace_back();
        for (Expr value : now) next.push_back(decided(value));
      }
      continue;
    }
    if (std::any_of(now.begin(), now.end(), changes)) return {};
    if (std::find(result.begin(), result.end(), now) == result.end()) result.push_back(now);
  }
  return result;
}

/// Whether `part` is in `e`, but for its conditions.
bool isMadeOf(Expr e, Expr part) {
  if (e == part) return true;
  if (e->width == 1) return false;
  const std::size_t first = e->op == Op::Ite ? 1 : 0;
  return std::any_of(e->operands.begin() + std::ptrdiff_t(first), e->operands.end(),
                     [&](Expr operand) { return isMadeOf(operand, part); });
}

} // namespace

/// Values that rounds exchange or choose from among a few, as conditions say that are not followed: their
/// symbol stands for which of all the states they are in together.
void Execution::bindStates(LoopWork& work) {
  constexpr std::size_t kMostNodes = 32;
  auto isOpen = [&](const PHINode* phi) {
    std::size_t nodes = 0;
    return !work.closed.count(phi) && !work.counted.count(phi) && work.latch.count(phi) &&
           work.start[phi]->width >= 8 && !phi->getType()->isFloatingPointTy() &&
           !anyNode(work.latch[phi], [&](Expr) { return ++nodes > kMostNodes; }) &&
           !state.isSynchronizing(work.latch[phi]);
  };
  for (const PHINode* first : work.phis) {
    if (!isOpen(first)) continue;
    std::vector<const PHINode*> group{first};
    for (std::size_t i = 0; i < group.size(); ++i)
      for (const PHINode* other : work.phis)
        if (isMadeOf(work.latch[group[i]], exprs.of(work.inside[other])) && isOpen(other) &&
            std::find(group.begin(), group.end(), other) == group.end())
          group.push_back(other);
    if (auto states = statesOf(work, group)) bindTo(work, group, *states);
  }
}

/// The states that the values go through together, whatever the conditions say.
std::optional<std::vector<std::vector<Expr>>>
Execution::statesOf(const LoopWork& work, const std::vector<const PHINode*>& group) const {
  std::vector<State> states(1);
  for (const PHINode* phi : group) states[0].push_back(work.start.lookup(phi));
  auto changes = [&](Expr e) { return dependsOnLoop(work, e, true); };
  for (std::size_t i = 0; i < states.size(); ++i) {
    Substitution step(exprs);
    for (std::size_t j = 0; j < group.size(); ++j) step.set(exprs.of(work.inside.at(group[j])), states[i][j]);
    State after;
    for (const PHINode* phi : group) after.push_back(step(work.latch.lookup(phi)));
    const auto next = alternativesOf(exprs, after, changes);
    if (!next) return {};
    for (const State& found : *next)
      if (std::find(states.begin(), states.end(), found) == states.end()) states.push_back(found);
    if (states.size() > kMostStates) return {};
  }
  return states;
}

void Execution::bindTo(LoopWork& work, const std::vector<const PHINode*>& group,
                       const std::vector<std::vector<Expr>>& states) {
  Symbol *inside = work.inside[group[0]], *after = work.after[group[0]];
  for (Symbol* symbol : {inside, after}) {
    symbol->lo = 0;
    symbol->hi = Int(states.size()) - 1;
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    Expr value = states.back()[i];
    for (std::size_t number = states.size() - 1; number-- > 0;) {
      Expr isIt = exprs.eq(exprs.of(inside), exprs.constant(inside->width, std::int64_t(number)));
      value = exprs.ite(isIt, states[number][i], value);
    }
    work.open[group[i]] = value;
    work.counted[group[i]] = {inside, after};
  }
}

/// Header values without a closed form are unknown; a pointer among them still points into one of the objects
/// that it can come from.
void Execution::bindPointers(LoopWork& work) {
  std::map<const PHINode*, std::set<unsigned>> objects;
  auto openValue = [&](const PHINode* phi) -> Expr {
    Expr unknown = exprs.of(work.inside[phi]);
    Expr choice = nullptr;
    unsigned number = 0;
    for (unsigned object : objects[phi]) {
      Expr pointer = exprs.add(state.objects.pointerTo(object), unknown);
      std::string role = "choice " + std::to_string(number++);
      Symbol* chosen = local(*phi, role, "a choice of pointers", 1);
      chosen->exact = false;
      chosen->cause = work.inside[phi]->cause;
      choice = choice ? exprs.ite(exprs.of(chosen), pointer, choice) : pointer;
    }
    return choice ? choice : unknown;
  };
  auto include = [&](const PHINode* phi, Expr pointer) {
    std::size_t before = objects[phi].size();
    for (const Place& place : state.objects.places(pointer)) objects[phi].insert(place.object);
    return objects[phi].size() != before;
  };
  std::vector<const PHINode*> pointers;
  for (const PHINode* phi : work.phis)
    if (phi->getType()->isPointerTy() && !work.closed.count(phi) && !work.counted.count(phi)) {
      pointers.push_back(phi);
      include(phi, work.start[phi]);
    }
  bool changed = !pointers.empty();
  for (unsigned round = 0; changed && round < 8; ++round) {
    changed = false;
    Substitution substitution(exprs);
    for (const PHINode* phi : pointers) substitution.set(exprs.of(work.inside[phi]), openValue(phi));
    for (const PHINode* phi : pointers)
      if (work.latch.count(phi)) changed = include(phi, substitution(work.latch[phi])) || changed;
  }
  for (const PHINode* phi : pointers) {
    if (changed) {
      for (unsigned object : objects[phi]) state.objects[object].escapes = true;
      objects[phi] = {state.objects.unknown()};
    }
    work.open[phi] = openValue(phi);
  }
}

/// A value that every round moves by one of some constants: where it began, and as far as these can have
/// taken it.
void Execution::boundOpen(LoopWork& work) {
  for (const PHINode* phi : work.phis) {
    if (work.closed.count(phi) || work.counted.count(phi) || !work.latch.count(phi) ||
        !phi->getType()->isIntegerTy(32))
      continue;
    std::int64_t least = 0, most = 0;
    if (!stepsOf(work.latch[phi], exprs.of(work.inside[phi]), least, most)) continue;
    // From here on the symbol is the way from the start. Rounds are fewer than 2^31, so that steps of one
    // stay within 32 bits.
    if (least < -1 || most > 1) continue;
    Expr moved = exprs.of(work.inside[phi]);
    work.open[phi] = exprs.add(work.start[phi], moved, NoSignedWrap);
    work.counted[phi] = {work.inside[phi], work.after[phi]};
    if (least >= 0)
      for (Symbol* symbol : {work.inside[phi], work.after[phi]}) {
        symbol->lo = std::max<Int>(symbol->lo, 0);
        symbol->hi = std::min<Int>(symbol->hi, (Int(1) << 31) - 1);
      }
    else
      work.facts.push_back(
          exprs.binary(Op::Sle, exprs.sub(exprs.constant(32, 0), work.k, NoSignedWrap), moved));
    work.facts.push_back(most > 0 ? exprs.binary(Op::Sle, moved, work.k)
                                  : exprs.binary(Op::Sle, moved, exprs.constant(32, 0)));
  }
}

} // namespace kcheck::analyzer
