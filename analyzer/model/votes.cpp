// What is counted of the votes of a warp's lanes: places that no two of them share.
#include "analyzer/model/execution.h"

#include "analyzer/model/warp_values.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <bit>

using namespace llvm;

namespace kcheck::analyzer {

static constexpr std::int64_t kLanesMask = 31;

/// What all lanes vote together is the same for all of them.
void Execution::noteBallot(const CallInst& call) {
  const auto mine = identity(call, true);
  if (!mine) return;
  const auto ballot = ballotOf(state, call, value(call.getArgOperand(1)), *mine);
  if (!ballot) return;
  auto* votes = state.symbols.function(&call, "ballot", "the votes (" + state.lineText(call) + ")", 32);
  votes->isBallot = true;
  votes->exact = false;
  votes->cause = env[&call]->symbol->cause;
  env[&call] = exprs.apply(votes, ballot->keys);
  state.ballots[env[&call]] = *ballot;
}

/// The number of bits set; of each choice where there are some, as between the votes of a round and none.
Expr Execution::countedBits(const CallInst& call, Expr bits) {
  if (isConst(bits)) return exprs.constant(32, std::popcount(zeroExtend(bits->value, bits->width)));
  auto ofChoice = [&](Expr choice, auto arm) {
    return exprs.ite(choice->operands[0], countedBits(call, arm(choice->operands[1])),
                     countedBits(call, arm(choice->operands[2])));
  };
  if (bits->op == Op::Ite) return ofChoice(bits, [](Expr arm) { return arm; });
  if (bits->op == Op::And)
    for (std::size_t i : {0u, 1u})
      if (Expr kept = bits->operands[1 - i]; bits->operands[i]->op == Op::Ite && kept->op != Op::Ite)
        return ofChoice(bits->operands[i], [&](Expr arm) { return exprs.binary(Op::And, arm, kept); });
  auto* count = state.symbols.function(nullptr, "popc/" + std::to_string(bits->width), "popc", 32);
  count->exact = false;
  count->cause = {CauseKind::Approximation, "the operation `popc` at " + state.lineText(call)};
  return exprs.binary(Op::And, exprs.apply(count, {bits}), exprs.constant(32, 127));
}

/// How many lanes below its own vote for something: no two lanes of a warp that do so count the same number.
/// Null where something else is counted.
Expr Execution::countedLanes(const CallInst& call, Expr& condition) {
  Expr counted = value(call.getArgOperand(0));
  if (counted->op != Op::And || counted->width != 32) return nullptr;
  for (std::size_t i : {0u, 1u}) {
    auto known = state.ballots.find(counted->operands[i]);
    if (known == state.ballots.end() || !isLanesBelow(state, counted->operands[1 - i])) continue;
    const Ballot& ballot = known->second;
    std::vector<Expr> operands = ballot.keys;
    operands.push_back(state.linearThread());
    constexpr unsigned kBits = 5;
    auto* rank = state.symbols.function(&call, "rank", "lanes below", kBits);
    rank->injective = true;
    rank->keys = unsigned(ballot.keys.size());
    rank->exact = false;
    rank->cause = {CauseKind::Warp, "the lanes counted at " + state.lineText(call)};
    Expr below = exprs.extend(Op::ZExt, 32, exprs.apply(rank, std::move(operands)));
    // Its own vote is not among them.
    Expr isFewer = exprs.binary(Op::Ult, below, countedBits(call, known->first));
    const bool isOne = isVoter(ballot, condition);
    condition = exprs.logicalAnd(condition, exprs.logicalOr(exprs.logicalNot(ballot.vote), isFewer));
    if (isOne) return below;
    Expr other = exprs.binary(Op::And, countedBits(call, counted), exprs.constant(32, kLanesMask));
    return exprs.ite(ballot.vote, below, other);
  }
  return nullptr;
}

/// The number of the first lane that voted, and one, for those that did. Null where it is not of votes.
Expr Execution::firstVoter(const CallInst& call, Expr condition) {
  Expr votes = value(call.getArgOperand(0));
  const auto known = state.ballots.find(votes);
  if (known == state.ballots.end()) return nullptr;
  constexpr unsigned kBits = 5;
  auto* lane = state.symbols.function(votes->function, "first voter", "the first lane that voted", kBits);
  lane->exact = false;
  lane->cause = {CauseKind::Warp, "the votes at " + state.lineText(call)};
  Expr first = exprs.extend(Op::ZExt, 32, exprs.apply(lane, votes->operands));
  state.firstVoters[first] = votes;
  first = exprs.add(first, exprs.constant(32, 1), NoSignedWrap | NoUnsignedWrap);
  if (isVoter(known->second, condition)) return first;
  Expr other = exprs.binary(Op::And, opaque(call, "ffs"), exprs.constant(32, 2 * kLanesMask + 1));
  return exprs.ite(known->second.vote, first, other);
}

} // namespace kcheck::analyzer
