#include "analyzer/model/warp_values.h"

#include "analyzer/expr/range.h"
#include "analyzer/model/kernel_state.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::int64_t kLanes = 32;

/// Lanes follow each other along the first axis.
bool isWarpInOneRow(const KernelModel& model) {
  if (isConst(model.threadIdx[1]) && isConst(model.threadIdx[2])) return true;
  Expr width = model.blockDim[0];
  return isConst(width) && width->value > 0 && width->value % kLanes == 0;
}

/// Whether no block has a second warp.
bool isOneWarp(const KernelModel& model) {
  std::int64_t threads = 1;
  for (Expr extent : model.blockDim) {
    if (extent && (!isConst(extent) || extent->value < 1 || extent->value > kLanes)) return false;
    if (extent) threads *= extent->value;
  }
  return threads <= kLanes;
}

/// Whether the threads of a warp come here together, once in each round: of loops with a barrier, or of the
/// innermost loop where every round of every lane passes the call, which waits for all of them.
bool isMetTogether(KernelState& state, const Instruction& call) {
  const Loop* innermost = state.loopInfo.getLoopFor(call.getParent());
  for (const Loop* loop = innermost; loop; loop = loop->getParentLoop()) {
    if (state.barrierLoops.count(loop)) continue;
    SmallVector<BasicBlock*> latches;
    loop->getLoopLatches(latches);
    if (loop != innermost || !std::all_of(latches.begin(), latches.end(), [&](const BasicBlock* latch) {
          return state.dominators.dominates(call.getParent(), latch);
        }))
      return false;
  }
  return true;
}

/// Whether e hangs on more of the thread than its index, the round of the loops around `call`, `group`, and
/// `shared`, which other lanes have as well.
bool hangsOnMore(KernelState& state, const Instruction& call, Expr e, const Symbol* group, Expr shared) {
  Substitution without(state.exprs);
  if (shared) without.set(shared, state.exprs.constant(shared->width, 0));
  return anyNode(without(e), [&](Expr n) {
    if (n->op == Op::Apply) return n->function->varies == Varies::ByThread;
    if (n->op != Op::Symbol || n->symbol->kind == SymbolKind::ThreadIdx || n->symbol == group) return false;
    if (n->symbol->kind == SymbolKind::LoopCounter && !n->symbol->isOutcome) {
      auto home = state.homes.find(n->symbol);
      if (home != state.homes.end() && home->second.first && home->second.first->contains(&call))
        return false;
    }
    return n->symbol->varies == Varies::ByThread;
  });
}

std::vector<Expr> warpAndRound(KernelState& state, const std::vector<Expr>& identity) {
  std::vector<Expr> keys(std::begin(state.model.blockIdx), std::end(state.model.blockIdx));
  keys.push_back(state.exprs.binary(Op::LShr, state.linearThread(), state.exprs.constant(32, 5)));
  constexpr std::size_t kRounds = 4; // the last ones of an identity
  keys.insert(keys.end(), identity.end() - kRounds, identity.end());
  return keys;
}

std::optional<Ballot> madeOfBallots(KernelState& state, Expr mask) {
  if (const auto known = state.ballots.find(mask); known != state.ballots.end()) {
    if (known->second.group || known->second.value) return {}; // the others are not all there, or are others
    return known->second;
  }
  if ((mask->op != Op::And && mask->op != Op::Or && mask->op != Op::Xor) || mask->width != 32) return {};
  ExprContext& exprs = state.exprs;
  auto first = madeOfBallots(state, mask->operands[0]);
  if (!first) return {};
  if (isConst(mask->operands[1], -1) && mask->op == Op::Xor) {
    first->vote = exprs.logicalNot(first->vote);
    return first;
  }
  const auto second = madeOfBallots(state, mask->operands[1]);
  if (!second || second->keys != first->keys) return {};
  first->vote = exprs.binary(mask->op, first->vote, second->vote);
  return first;
}

/// Whether it is the number of a lane for certain, of one warp's threads and nothing that they have read.
bool isOfWarp(Expr lane) {
  if (isConst(lane)) return lane->value >= 0 && lane->value < kLanes;
  if (lane->width != 32 || !causesOf(lane).empty()) return false;
  const Range range = Ranges(Ranges::Wrapping::Exact).of(lane);
  return range.lo >= 0 && range.hi < kLanes;
}

/// Whether the last warp of a block, too, is wide enough to have the lane.
bool isInEveryWarp(const KernelModel& model, std::int64_t lane) {
  std::int64_t threads = 1;
  for (Expr extent : model.blockDim) threads *= isConst(extent) ? extent->value : 0; // 0: not known
  return lane == 0 || (threads > 0 && (threads % kLanes == 0 || threads % kLanes > lane));
}

/// The lane of a thread of that index, in the words that programs find for it.
std::vector<Expr> lanesOf(ExprContext& exprs, Expr thread) {
  std::vector<Expr> result{exprs.binary(Op::And, thread, exprs.constant(32, kLanes - 1))};
  for (Op rest : {Op::URem, Op::SRem})
    result.push_back(exprs.binary(rest, thread, exprs.constant(32, kLanes)));
  return result;
}

/// What the thread's index is for another lane of its warp, which lies in one row.
Substitution asLane(KernelState& state, Expr lane) {
  ExprContext& exprs = state.exprs;
  Expr own = state.model.threadIdx[0];
  Expr first = exprs.binary(Op::And, own, exprs.constant(32, -kLanes));
  Substitution other(exprs);
  for (Expr thread : {own, state.linearThread()})
    for (Expr words : lanesOf(exprs, thread)) other.set(words, lane);
  for (Expr warp : warpNumbers(state)) other.set(warp, warp); // is the same for all of them
  other.set(own, exprs.binary(Op::Or, first, lane));
  return other;
}

} // namespace

LaneRead laneRead(KernelState& state, const CallInst& call, Expr named) {
  auto* intrinsic = dyn_cast<IntrinsicInst>(&call);
  auto* limits = intrinsic && call.arg_size() == 4 ? dyn_cast<ConstantInt>(call.getArgOperand(3)) : nullptr;
  if (!limits) return {};
  const auto id = intrinsic->getIntrinsicID();
  const bool isUp = id == Intrinsic::nvvm_shfl_sync_up_i32;
  const std::uint64_t above = limits->getZExtValue() >> 8,
                      bound = limits->getZExtValue() & 0xff; // as PTX has it
  const std::uint64_t width = kLanes - above;
  if (above >= kLanes || !isPowerOf2_64(width) || bound != (isUp ? 0 : kLanes - 1)) return {};
  ExprContext& exprs = state.exprs;
  const Expr lane = exprs.binary(Op::And, state.linearThread(), exprs.constant(32, kLanes - 1));
  const Expr first = exprs.binary(Op::And, lane, exprs.constant(32, std::int64_t(above)));
  const Expr own = exprs.binary(Op::And, lane, exprs.constant(32, std::int64_t(width) - 1)); // of its segment
  const Expr last = exprs.constant(32, std::int64_t(width) - 1);
  const auto inSegment = [&](Expr other) { return above == 0 ? other : exprs.binary(Op::Or, first, other); };
  const bool isNear = isConst(named) && named->value >= 0 && named->value < kLanes;
  Expr read = nullptr, lanes = exprs.constant(32, std::int64_t(maskTrailingOnes<std::uint32_t>(width)));
  if (id == Intrinsic::nvvm_shfl_sync_idx_i32) {
    read = above == 0 ? named : inSegment(exprs.binary(Op::And, named, last));
  } else if (id == Intrinsic::nvvm_shfl_sync_bfly_i32 && isNear) {
    if (named->value >= std::int64_t(width)) return {}; // in another segment
    read = exprs.binary(Op::Xor, lane, named);
  } else if (id == Intrinsic::nvvm_shfl_sync_down_i32 && isNear) {
    Expr other = exprs.add(own, named, NoSignedWrap | NoUnsignedWrap);
    read = exprs.ite(exprs.binary(Op::Ule, other, last), inSegment(other), lane);
  } else if (isUp && isNear) {
    Expr other = exprs.binary(Op::And, exprs.sub(own, named), last);
    read = exprs.ite(exprs.binary(Op::Ule, named, own), inSegment(other), lane);
  }
  return {read, above == 0 ? exprs.constant(32, -1) : exprs.binary(Op::Shl, lanes, first)};
}

bool isFirstOfSegment(KernelState& state, Expr lane) {
  if (lane->op != Op::And || !isConst(lane->operands[1]) || lane->operands[1]->value < 0) return false;
  return isLane(state, state.exprs.binary(Op::And, lane->operands[0], state.exprs.constant(32, kLanes - 1)));
}

std::vector<Expr> warpNumbers(KernelState& state) {
  ExprContext& exprs = state.exprs;
  Expr thread = state.linearThread();
  std::vector<Expr> result;
  for (Op shift : {Op::LShr, Op::AShr}) result.push_back(exprs.binary(shift, thread, exprs.constant(32, 5)));
  for (Op divide : {Op::UDiv, Op::SDiv})
    result.push_back(exprs.binary(divide, thread, exprs.constant(32, kLanes)));
  return result;
}

bool isLane(KernelState& state, Expr e) {
  if (isOneWarp(state.model) && e == state.linearThread()) return true;
  const auto isOf = [&](Expr thread) {
    const auto lanes = lanesOf(state.exprs, thread);
    return std::ranges::find(lanes, e) != lanes.end();
  };
  return isOf(state.linearThread()) || (isWarpInOneRow(state.model) && isOf(state.model.threadIdx[0]));
}

std::optional<std::vector<Expr>> wholeWarp(KernelState& state, const CallInst& call, const Value* mask,
                                           const std::vector<Expr>& identity) {
  auto* lanes = dyn_cast<ConstantInt>(mask);
  if (!lanes || !lanes->isMinusOne() || !isMetTogether(state, call)) return {};
  return warpAndRound(state, identity);
}

std::optional<Ballot> ballotOf(KernelState& state, const CallInst& call, Expr vote,
                               const std::vector<Expr>& identity) {
  const auto keys = wholeWarp(state, call, call.getArgOperand(0), identity);
  if (!keys || vote->width != 1) return {};
  return Ballot{vote, *keys};
}

std::optional<Ballot> matchOf(KernelState& state, const CallInst& call, Expr mask, Expr matched,
                              Expr condition, const std::vector<Expr>& identity) {
  Ballot ballot{condition, warpAndRound(state, identity), nullptr, matched};
  if (isConst(mask, -1)) {
    if (!isMetTogether(state, call)) return {};
  } else {
    const auto known = state.ballots.find(mask);
    if (known == state.ballots.end() || !isVoter(known->second, condition)) return {};
    const Ballot& named = known->second;
    auto* from = dyn_cast<Instruction>(call.getArgOperand(0)); // once for each such mask, or with all
    if (named.value || ((!from || state.loopInfo.getLoopFor(from->getParent()) !=
                                      state.loopInfo.getLoopFor(call.getParent())) &&
                        !isMetTogether(state, call)))
      return {};
    ballot.keys.insert(ballot.keys.end(), named.keys.begin(), named.keys.end());
    ballot.group = named.group;
  }
  ballot.keys.push_back(matched);
  return ballot;
}

Ballot activeLanes(KernelState& state, Expr condition, const std::vector<Expr>& identity,
                   const Symbol* group) {
  Ballot ballot{condition, warpAndRound(state, identity), group};
  ballot.keys.push_back(state.exprs.of(group));
  return ballot;
}

Ballot lanesIn(KernelState& state, Expr mask) {
  if (auto made = madeOfBallots(state, mask)) return *made;
  ExprContext& exprs = state.exprs;
  Expr lane = exprs.binary(Op::And, state.linearThread(), exprs.constant(32, kLanes - 1));
  Ballot ballot{exprs.extend(Op::Trunc, 1, exprs.binary(Op::LShr, mask, lane)), {}, nullptr};
  ballot.keys.assign(std::begin(state.model.blockIdx), std::end(state.model.blockIdx));
  ballot.keys.push_back(exprs.binary(Op::LShr, state.linearThread(), exprs.constant(32, 5)));
  ballot.keys.push_back(mask);
  return ballot;
}

std::optional<Ballot> votersOf(KernelState& state, Expr mask) {
  const auto known = state.ballots.find(mask);
  return known != state.ballots.end() ? known->second : madeOfBallots(state, mask);
}

Expr ownLane(KernelState& state) {
  ExprContext& exprs = state.exprs;
  Expr lane = exprs.binary(Op::And, state.linearThread(), exprs.constant(32, kLanes - 1));
  return exprs.binary(Op::Shl, exprs.constant(32, 1), lane);
}

Expr lanesBelow(KernelState& state, bool withOwn) {
  ExprContext& exprs = state.exprs;
  Expr next = withOwn ? exprs.binary(Op::Shl, ownLane(state), exprs.constant(32, 1)) : ownLane(state);
  return exprs.sub(next, exprs.constant(32, 1));
}

Expr ownVote(KernelState& state, Expr x, Expr y) {
  ExprContext& exprs = state.exprs;
  auto voteOf = [&](Expr votes) -> Expr {
    const auto known = state.ballots.find(votes);
    return known == state.ballots.end() ? nullptr : known->second.vote;
  };
  for (auto [votes, bit] : {std::pair(x, y), std::pair(y, x)}) {
    if (bit->op == Op::Shl && isConst(bit->operands[0], 1) && isLane(state, bit->operands[1])) {
      if (Expr vote = voteOf(votes)) return exprs.ite(vote, bit, exprs.constant(32, 0));
    } else if (isConst(bit, 1) && votes->op == Op::LShr && isLane(state, votes->operands[1])) {
      if (Expr vote = voteOf(votes->operands[0])) return exprs.extend(Op::ZExt, 32, vote);
    }
  }
  return nullptr;
}

bool isVoter(const Ballot& ballot, Expr condition) {
  const std::vector<Expr> here = conjunctsOf(condition), votes = conjunctsOf(ballot.vote);
  return std::all_of(votes.begin(), votes.end(), [&](Expr part) {
    return isTrue(part) || std::find(here.begin(), here.end(), part) != here.end();
  });
}

bool hasVoters(ExprContext& exprs, Expr votes, const Ballot& ballot, Expr condition) {
  Expr any = exprs.logicalNot(exprs.eq(votes, exprs.constant(votes->width, 0)));
  const std::vector<Expr> here = conjunctsOf(condition);
  return isVoter(ballot, condition) || std::find(here.begin(), here.end(), any) != here.end();
}

/// What goes through many shuffles doubles each time: each lane has words of its own for it.
static bool isTooLarge(Expr sent) {
  constexpr std::size_t kMost = 8192;
  std::size_t count = 0;
  return anyNode(sent, [&](Expr) { return ++count > kMost; });
}

Expr valueOfLane(KernelState& state, const CallInst& call, const std::function<Expr(unsigned)>& argument,
                 Expr condition) {
  Expr own = state.model.threadIdx[0];
  if (call.arg_size() < 3 || isConst(own) || !isWarpInOneRow(state.model)) return nullptr;
  ExprContext& exprs = state.exprs;
  std::vector<Expr> here = conjunctsOf(condition);
  auto takeForTrue = [&](Substitution& known, Expr part) {
    if (isConst(part)) return;
    known.set(part, exprs.boolean(true));
    known.set(exprs.logicalNot(part), exprs.boolean(false));
  };
  Substitution holds(exprs);
  for (Expr part : here) takeForTrue(holds, part);
  const auto [lane, segment] = laneRead(state, call, holds(argument(2)));
  if (!lane) return nullptr;
  Expr mask = argument(0), all = exprs.constant(32, -1);
  const auto leads = state.firstVoters.find(lane);
  const Ballot* ballot = leads != state.firstVoters.end() ? &state.ballots.at(leads->second) : nullptr;
  if (ballot ? mask != all && mask != leads->second : (mask != all && mask != segment) || !isOfWarp(lane))
    return nullptr;
  // Lanes that name each other in the mask come together, in whichever round of theirs.
  const Symbol* group = ballot && mask == leads->second ? ballot->group : nullptr;
  Expr shared = ballot && !isConst(ballot->value ? ballot->value : all) ? ballot->value : nullptr;
  if (!group && ((ballot && ballot->group) || !isMetTogether(state, call))) return nullptr;
  if (ballot && !hasVoters(exprs, leads->second, *ballot, condition))
    return nullptr; // there may be no such lane
  if (isTooLarge(argument(1))) return nullptr;
  Substitution other = asLane(state, lane);
  if (shared) other.set(shared, shared);
  Substitution votes(exprs); // the first voter has voted
  if (ballot)
    for (Expr part : conjunctsOf(other(ballot->vote))) takeForTrue(votes, part);
  for (Expr fact : state.laneFacts) takeForTrue(votes, other(fact));
  for (Expr part : here) // what is the same for that lane
    if (other(part) == part && !hangsOnMore(state, call, part, group, shared)) takeForTrue(votes, part);
  Expr sent = votes(other(argument(1)));
  if (hangsOnMore(state, call, sent, group, shared)) return nullptr;
  // The lane must come here wherever this thread does.
  Expr asked = exprs.boolean(true);
  for (Expr part : here)
    if (!state.laneFacts.count(part)) asked = exprs.logicalAnd(asked, part);
  for (Expr part : conjunctsOf(votes(other(asked)))) {
    if (isTrue(part)) continue;
    if (hangsOnMore(state, call, part, group, shared) ||
        std::find(here.begin(), here.end(), part) == here.end())
      return nullptr;
  }
  const bool isThere =
      isFirstOfSegment(state, lane) || isInEveryWarp(state.model, isConst(lane) ? lane->value : kLanes - 1);
  return ballot || isThere ? sent : nullptr;
}

Expr asLaneHas(KernelState& state, const Instruction& meeting, Expr lane, Expr e) {
  if (isConst(state.model.threadIdx[0]) || !isWarpInOneRow(state.model) || isTooLarge(e) ||
      !isMetTogether(state, meeting))
    return nullptr;
  Expr result = asLane(state, lane)(e);
  return hangsOnMore(state, meeting, result, nullptr, nullptr) ? nullptr : result;
}

WordsOfLane::WordsOfLane(KernelState& state, const Instruction& meeting, std::int64_t lane)
    : state(state), meeting(meeting), other(asLane(state, state.exprs.constant(32, lane))) {}

Expr WordsOfLane::of(Expr e) {
  Expr result = other(e);
  return hangsOnMore(state, meeting, result, nullptr, nullptr) ? nullptr : result;
}

Expr WordsOfLane::ofAll(Expr condition, Expr here) {
  const std::vector<Expr> known = conjunctsOf(here);
  Expr remains = state.exprs.boolean(true);
  Expr asked = state.exprs.boolean(true);
  for (Expr part : conjunctsOf(condition))
    if (!state.laneFacts.count(part)) asked = state.exprs.logicalAnd(asked, part);
  for (Expr part : conjunctsOf(other(asked))) {
    if (isTrue(part)) continue;
    if (hangsOnMore(state, meeting, part, nullptr, nullptr)) return nullptr;
    if (std::find(known.begin(), known.end(), part) == known.end())
      remains = state.exprs.logicalAnd(remains, part);
  }
  return remains;
}

std::optional<WordsOfLane> wordsOfLane(KernelState& state, const Instruction& meeting, std::int64_t lane) {
  const bool isThere = lane >= 0 && lane < kLanes && isInEveryWarp(state.model, lane);
  if (!isThere || isConst(state.model.threadIdx[0]) || !isWarpInOneRow(state.model) ||
      !isMetTogether(state, meeting))
    return {};
  return std::optional<WordsOfLane>(std::in_place, state, meeting, lane);
}

} // namespace kcheck::analyzer
