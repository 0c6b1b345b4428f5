// What is counted of the votes of a warp's lanes: places that no two of them share.
#include "analyzer/model/execution.h"

#include "analyzer/model/counted_lanes.h"
#include "analyzer/model/integer_functions.h"
#include "analyzer/model/warp_values.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

#include <bit>

using namespace llvm;

namespace kcheck::analyzer {

static constexpr std::int64_t kLanesMask = 31;

/// What lanes elect says nothing of other warps, unless they vote by what atomic operations have given them.
static CauseKind kindOf(const Ballot& ballot) {
  for (Expr part : {ballot.vote, ballot.value}) {
    const std::vector<Cause> causes = part ? causesOf(part) : std::vector<Cause>();
    for (const Cause& cause : causes)
      if (cause.kind == CauseKind::Order || cause.kind == CauseKind::Wait || cause.kind == CauseKind::Lock)
        return CauseKind::Order;
  }
  return CauseKind::Warp;
}

/// What all lanes vote together is the same for all of them.
void Execution::noteBallot(const CallInst& call) {
  const auto mine = identity(call, true);
  if (!mine) return;
  if (auto ballot = ballotOf(state, call, value(call.getArgOperand(1)), *mine))
    takeForBallot(call, "the votes", *ballot);
}

/// Which lanes have the same value is the same for all of these.
void Execution::noteMatch(const CallInst& call, Expr condition) {
  const auto mine = identity(call, true);
  if (!mine) return;
  if (auto lanes =
          matchOf(state, call, value(call.getArgOperand(0)), value(call.getArgOperand(1)), condition, *mine))
    takeForBallot(call, "the lanes of one value", *lanes);
}

/// What one of the warp's votes gives is the same for all lanes, whatever they vote.
void Execution::noteVote(const CallInst& call) {
  const auto mine = identity(call, true);
  const auto ballot =
      mine ? ballotOf(state, call, value(call.getArgOperand(1)), *mine) : std::optional<Ballot>();
  if (!ballot) return;
  auto* vote = state.symbols.function(&call, "warp vote", "the vote (" + state.lineText(call) + ")", 1);
  vote->exact = false;
  vote->cause = {CauseKind::Warp, "the result of a warp operation at " + state.lineText(call)};
  env[&call] = exprs.apply(vote, ballot->keys);
}

/// What all lanes reduce to one value is the same for all of them.
void Execution::noteReduction(const CallInst& call) {
  const auto mine = identity(call, true);
  const auto keys = mine ? wholeWarp(state, call, call.getArgOperand(0), *mine) : std::nullopt;
  if (!keys) return;
  auto* value =
      state.symbols.function(&call, "reduced", "what the warp reduces (" + state.lineText(call) + ")",
                             widthOf(call.getType(), state.layout));
  value->exact = false;
  value->cause = {CauseKind::Warp, "the result of a warp operation at " + state.lineText(call)};
  env[&call] = exprs.apply(value, *keys);
}

/// The lanes of the warp that come here together: some of those that come here, this one among them. Those
/// that come without it are another group.
void Execution::noteActive(const CallInst& call, Expr condition) {
  const auto mine = identity(call, true);
  if (!mine) return;
  Symbol* group = local(call, "group", "which lanes come together (" + state.lineText(call) + ")", 32);
  group->lo = 0;
  group->hi = kLanesMask;
  group->exact = false;
  const std::string name = "the lanes together";
  takeForBallot(call, name, activeLanes(state, condition, *mine, group));
  group->cause = env[&call]->function->cause;
}

/// The call's result is the same wherever the ballot's keys are.
void Execution::takeForBallot(const CallInst& call, const std::string& name, const Ballot& ballot) {
  auto* votes = state.symbols.function(&call, "ballot", name + " (" + state.lineText(call) + ")", 32);
  votes->isBallot = true;
  votes->exact = false;
  votes->cause = {kindOf(ballot), name + " (" + state.lineText(call) + ")"};
  env[&call] = exprs.apply(votes, ballot.keys);
  state.ballots[env[&call]] = ballot;
}

/// The number of bits set; of each choice where there are some, as between the votes of a round and none.
Expr Execution::countedBits(const CallInst& call, Expr bits) {
  if (isConst(bits)) return exprs.constant(32, std::popcount(zeroExtend(bits->value, bits->width)));
  if (bits->op == Op::Xor && isConst(bits->operands[1], -1)) // those that are not set
    return exprs.sub(exprs.constant(32, bits->width), countedBits(call, bits->operands[0]),
                     NoSignedWrap | NoUnsignedWrap);
  auto ofChoice = [&](Expr choice, auto arm) {
    return exprs.ite(choice->operands[0], countedBits(call, arm(choice->operands[1])),
                     countedBits(call, arm(choice->operands[2])));
  };
  if (bits->op == Op::Ite) return ofChoice(bits, [](Expr arm) { return arm; });
  if (bits->op == Op::And)
    for (std::size_t i : {0u, 1u})
      if (Expr kept = bits->operands[1 - i]; bits->operands[i]->op == Op::Ite && kept->op != Op::Ite)
        return ofChoice(bits->operands[i], [&](Expr arm) { return exprs.binary(Op::And, arm, kept); });
  if (isOfIndices(bits)) return setBits(exprs, bits);
  if (const auto lanes = countedLanesOf(state, bits); lanes && lanes->kind == CountedLanes::Kind::All)
    bits = votesOfSegment(state, lanes->votes, lanes->segment);
  // From 0 to 32 or 64: a number below that, and perhaps one more.
  Expr count = exprs.constant(32, 0);
  for (unsigned width : {bits->width == 64 ? 6u : 5u, 1u}) {
    auto* part = state.symbols.function(nullptr, "popc/" + std::to_string(bits->width), "popc", width);
    part->exact = false;
    part->cause = {CauseKind::Approximation, "the operation `popc` at " + state.lineText(call)};
    count = exprs.add(count, exprs.extend(Op::ZExt, 32, exprs.apply(part, {bits})),
                      NoSignedWrap | NoUnsignedWrap);
  }
  return count;
}

/// How many lanes below its own vote for something, or up to its own, or above: no two lanes of a warp, or of
/// a segment of it, that do so count the same number. Null where something else is counted.
Expr Execution::countedLanes(const CallInst& call, Expr& condition) {
  return countedLanes(call, value(call.getArgOperand(0)), condition, "rank");
}

/// `role` tells the functions apart that stand for the ranks of several choices.
Expr Execution::countedLanes(const CallInst& call, Expr counted, Expr& condition, const std::string& role) {
  auto ofArms = [&](Expr choice) -> Expr {
    auto ofArm = [&](unsigned arm, const char* which) {
      Substitution known(exprs);
      known.set(choice, choice->operands[arm]);
      return countedLanes(call, known(counted), condition, role + which);
    };
    Expr then = ofArm(1, "/then");
    Expr otherwise = then ? ofArm(2, "/else") : nullptr;
    return otherwise ? exprs.ite(choice->operands[0], then, otherwise) : nullptr;
  };
  const auto lanes = countedLanesOf(state, counted);
  if (lanes && lanes->kind != CountedLanes::Kind::All) {
    Expr votes = lanes->votes;
    if (votes->op == Op::Ite)
      if (Expr chosen = ofArms(votes)) return chosen;
    const auto known = state.ballots.find(votes);
    // Of any mask the number is as good, but for those who have looked whether they are named in it.
    auto isVotes = [&](Expr n) { return state.ballots.contains(n); };
    auto isMask = [&](Expr n) { return n == votes; };
    if (known == state.ballots.end() && !anyNode(votes, isVotes) && !anyNode(condition, isMask))
      return nullptr;
    const Ballot ballot = known != state.ballots.end() ? known->second : lanesIn(state, votes);
    const bool isOne = isVoter(ballot, condition);
    Expr others = otherVoters(call, *lanes, ballot, condition, role);
    if (isOne && known != state.ballots.end() && lanes->kind == CountedLanes::Kind::Below &&
        lanes->segment == kLanesMask + 1)
      state.ranks[others] = votes;
    Expr rank =
        lanes->withOwn ? exprs.add(others, exprs.constant(32, 1), NoSignedWrap | NoUnsignedWrap) : others;
    if (isOne) return rank;
    Expr other = exprs.binary(Op::And, countedBits(call, counted), exprs.constant(32, kLanesMask));
    return exprs.ite(ballot.vote, rank, other);
  }
  if (counted->op != Op::And || counted->width != 32) return nullptr;
  for (std::size_t i : {0u, 1u}) // some count up to themselves and some do not
    if (counted->operands[i]->op == Op::Ite && counted->operands[1 - i]->op != Op::Ite)
      return ofArms(counted->operands[i]);
  return nullptr;
}

/// Where the thread itself has voted: how many of the other lanes that it counts have.
Expr Execution::otherVoters(const CallInst& call, const CountedLanes& lanes, const Ballot& ballot,
                            Expr& condition, const std::string& role) {
  Expr votes = lanes.votes;
  std::vector<Expr> operands = ballot.keys;
  const unsigned segment = lanes.isSegmentAlone ? lanes.segment : kLanesMask + 1;
  if (lanes.segment <= kLanesMask) operands.push_back(segmentNumber(state, lanes.segment));
  const auto keys = unsigned(operands.size());
  operands.push_back(state.linearThread());
  const unsigned bits = Log2_32(segment); // fewer than there are lanes
  const bool isBelow = lanes.kind == CountedLanes::Kind::Below;
  auto* rank = state.symbols.function(&call, role, isBelow ? "lanes below" : "lanes above", bits);
  rank->injective = true;
  rank->keys = keys;
  rank->exact = false;
  // Lanes vote as they like; a mask that is no vote of theirs gives them no work of their own.
  const bool isVote = anyNode(votes, [&](Expr n) { return state.ballots.contains(n); });
  rank->cause = {isVote ? CauseKind::Warp : CauseKind::Approximation,
                 "the lanes counted at " + state.lineText(call)};
  Expr others = exprs.extend(Op::ZExt, 32, exprs.apply(rank, std::move(operands)));
  // Its own vote is not among them.
  Expr all = countedBits(call, votesOfSegment(state, votes, segment)),
       isFewer = exprs.binary(Op::Ult, others, all);
  // No more than there are lanes: the others can be counted then.
  Expr isOfWarp = exprs.binary(Op::Ule, all, exprs.constant(32, kLanesMask + 1));
  state.laneFacts.insert(isOfWarp);
  condition = exprs.logicalAnd(condition, isOfWarp);
  if (isVoter(ballot, condition)) state.laneFacts.insert(isFewer);
  Expr isFewerIfVoter = exprs.logicalOr(exprs.logicalNot(ballot.vote), isFewer);
  state.laneFacts.insert(isFewerIfVoter);
  condition = exprs.logicalAnd(condition, isFewerIfVoter);
  return others;
}

/// The number of the first lane that voted, where one has.
Expr Execution::leaderOf(Expr votes, const Ballot& ballot, const std::string& line) {
  constexpr unsigned kBits = 5;
  auto* lane = state.symbols.function(votes->function, "first voter", "the first lane that voted", kBits);
  lane->isLeader = true;
  lane->exact = false;
  lane->cause = {kindOf(ballot), "the votes at " + line};
  if (ballot.group || ballot.value) { // no lane is the first of two groups
    lane->injective = true;
    lane->keys = ballot.commonKeys();
  }
  Expr first = exprs.extend(Op::ZExt, 32, exprs.apply(lane, votes->operands));
  state.firstVoters[first] = votes;
  return first;
}

/// Where the thread has voted, and no voter is below it just if `rank` is 0: that it is the first. Else null.
Expr Execution::saysIsLeader(Expr rank) {
  const auto known = state.ranks.find(rank);
  if (known == state.ranks.end()) return nullptr;
  const Function* counts = (rank->op == Op::ZExt ? rank->operands[0] : rank)->function;
  const std::string_view text = counts->cause.text;
  Expr first =
      leaderOf(known->second, state.ballots.at(known->second), std::string(text.substr(text.rfind("line "))));
  return exprs.eq(exprs.binary(Op::And, state.linearThread(), exprs.constant(32, kLanesMask)), first);
}

/// The number of the first lane that voted, and one; 0 where none has. Null where it is not of votes.
Expr Execution::firstVoter(const CallInst& call, Expr condition) {
  Expr votes = value(call.getArgOperand(0));
  const auto known = state.ballots.find(votes);
  if (known == state.ballots.end()) return nullptr;
  Expr first = leaderOf(votes, known->second, state.lineText(call)), none = exprs.constant(32, 0);
  first = exprs.add(first, exprs.constant(32, 1), NoSignedWrap | NoUnsignedWrap);
  if (hasVoters(exprs, votes, known->second, condition)) return first;
  return exprs.ite(exprs.eq(votes, none), none, first);
}

/// What a shuffle or another operation of the warp gives. A shuffle from the first voter gives what that one
/// has, where there is one.
Expr Execution::warpResult(const CallInst& call, const std::function<Expr(unsigned)>& argument,
                           Expr condition) {
  auto unknown = [&] {
    return fresh(&call, "call", "a value of the warp (" + state.lineText(call) + ")",
                 {CauseKind::Warp, "the result of a warp operation at " + state.lineText(call)});
  };
  if (call.arg_size() < 2) return unknown();
  if (Expr handed = valueOfLane(state, call, argument, condition)) return handed;
  Expr lane = call.arg_size() > 2 ? argument(2) : nullptr;
  if (!lane || lane->op != Op::Ite) return unknown();
  Expr none = lane->operands[0];
  Expr handed = valueOfLane(state, call, argument, exprs.logicalAnd(condition, exprs.logicalNot(none)));
  return handed ? exprs.ite(none, unknown(), handed) : unknown();
}

/// What a thread that has voted does: the votes are not none.
Expr Execution::afterVoting(Expr e, Expr condition) const {
  for (const auto& [votes, ballot] : state.ballots) {
    if (!isVoter(ballot, condition)) continue;
    Expr none = exprs.eq(votes, exprs.constant(votes->width, 0));
    Substitution known(exprs);
    known.set(none, exprs.boolean(false));
    known.set(exprs.logicalNot(none), exprs.boolean(true));
    e = known(e);
  }
  return e;
}

} // namespace kcheck::analyzer
