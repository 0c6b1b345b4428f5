// Barriers and warp collectives as waits; statements that end or delay a thread.
#include "instrument/pass/ptx/run_target.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

namespace kcheck::instrument {

using namespace ptx;

namespace {

using abi::WaitKind;
const Type kWord{Type::Kind::Unsigned, 32, 1};

llvm::Value* number(Builder& p, std::uint32_t value) { return p.b.getInt32(value); }

void writePair(Builder& p, const Operand& target, llvm::Value* value, llvm::Value* predicate) {
  if (target.kind != Operand::Kind::Pair) {
    p.write(target, value);
    return;
  }
  p.write(target.parts[0], value);
  p.write(target.parts[1], predicate);
}

/// bar{.cta}.{sync,arrive,red.OP} and barrier{.cta}.…{.aligned}; bar.warp.sync
bool barrier(Builder& p, const Statement& s) {
  if (s.has("cluster"))
    return true; // a cluster is one block here, which this block's threads need not wait for
  if (s.has("warp")) {
    if (s.operands.size() != 1) return false;
    loweringOf(p).wait({.kind = WaitKind::WarpSync, .a = p.bits(s.operands[0], kWord)});
    return true;
  }
  bool isUnaligned = s.opcode[0] == "barrier" && !s.has("aligned");
  auto block = [&](WaitArguments arguments) {
    arguments.unaligned = isUnaligned;
    return loweringOf(p).wait(arguments);
  };
  if (s.has("sync")) {
    if (s.operands.empty()) return false;
    block({.kind = WaitKind::BlockBarrier,
           .a = p.bits(s.operands[0], kWord),
           .b = s.operands.size() > 1 ? p.bits(s.operands[1], kWord) : nullptr});
    return true;
  }
  if (s.has("arrive")) {
    if (s.operands.size() != 2) return false;
    block({.kind = WaitKind::BarrierArrive,
           .a = p.bits(s.operands[0], kWord),
           .b = p.bits(s.operands[1], kWord)});
    return true;
  }
  if (!s.has("red") || s.operands.size() < 3) return false;
  auto op = s.has("popc") ? abi::BarrierOp::Count : s.has("and") ? abi::BarrierOp::And : abi::BarrierOp::Or;
  auto* wait = block({.kind = WaitKind::BlockBarrier,
                      .a = p.bits(s.operands[1], kWord),
                      .b = s.operands.size() > 3 ? p.bits(s.operands[2], kWord) : nullptr,
                      .c = number(p, std::uint32_t(op)),
                      .d = p.predicate(s.operands.back())});
  auto* result = loweringOf(p).result(wait, p.b.getInt32Ty());
  p.write(s.operands[0], s.has("popc") ? result : p.b.CreateICmpNE(result, number(p, 0)));
  return true;
}

/// shfl.sync.MODE.b32 d[|p], a, b, c, mask
bool shuffle(Builder& p, const Statement& s) {
  if (s.operands.size() != 5 || !s.has("sync")) return false;
  auto mode = s.has("up")     ? abi::ShuffleMode::Up
              : s.has("down") ? abi::ShuffleMode::Down
              : s.has("bfly") ? abi::ShuffleMode::Butterfly
                              : abi::ShuffleMode::Index;
  auto* wait = loweringOf(p).wait({.kind = WaitKind::Shuffle,
                                   .a = p.bits(s.operands[4], kWord),
                                   .b = number(p, std::uint32_t(mode)),
                                   .c = p.bits(s.operands[2], kWord),
                                   .d = p.bits(s.operands[3], kWord),
                                   .e = p.bits(s.operands[1], kWord)});
  writePair(p, s.operands[0], loweringOf(p).result(wait, p.b.getInt32Ty()), loweringOf(p).predicate(wait));
  return true;
}

/// vote.sync.MODE.TYPE d, [!]a, mask (older headers write vote.MODE.sync)
bool vote(Builder& p, const Statement& s) {
  if (s.operands.size() != 3 || !s.has("sync")) return false;
  auto mode = s.has("all")   ? abi::VoteMode::All
              : s.has("any") ? abi::VoteMode::Any
              : s.has("uni") ? abi::VoteMode::Uniform
                             : abi::VoteMode::Ballot;
  auto* wait = loweringOf(p).wait({.kind = WaitKind::Vote,
                                   .a = p.bits(s.operands[2], kWord),
                                   .b = number(p, std::uint32_t(mode)),
                                   .c = p.predicate(s.operands[1])});
  auto* result = loweringOf(p).result(wait, p.b.getInt32Ty());
  p.write(s.operands[0], mode == abi::VoteMode::Ballot ? result : p.b.CreateICmpNE(result, number(p, 0)));
  return true;
}

/// match.{any,all}.sync.TYPE d[|p], a, mask
bool match(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || s.operands.size() != 3) return false;
  auto* wait = loweringOf(p).wait({.kind = WaitKind::Match,
                                   .a = p.bits(s.operands[2], kWord),
                                   .b = number(p, s.has("all")),
                                   .e = p.bits(s.operands[1], *type)});
  writePair(p, s.operands[0], loweringOf(p).result(wait, p.b.getInt32Ty()), loweringOf(p).predicate(wait));
  return true;
}

/// redux.sync.OP.TYPE d, a, mask
bool reduce(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || type->isFloat() || s.operands.size() != 3) return false;
  using abi::ReduceOp;
  auto op = s.has("add")   ? ReduceOp::Add
            : s.has("min") ? (type->isSigned() ? ReduceOp::Min : ReduceOp::UMin)
            : s.has("max") ? (type->isSigned() ? ReduceOp::Max : ReduceOp::UMax)
            : s.has("and") ? ReduceOp::And
            : s.has("or")  ? ReduceOp::Or
                           : ReduceOp::Xor;
  auto* wait = loweringOf(p).wait({.kind = WaitKind::Reduce,
                                   .a = p.bits(s.operands[2], kWord),
                                   .b = number(p, std::uint32_t(op)),
                                   .e = p.bits(s.operands[1], kWord)});
  p.write(s.operands[0], loweringOf(p).result(wait, p.b.getInt32Ty()));
  return true;
}

bool activeMask(Builder& p, const Statement& s) {
  if (s.operands.size() != 1) return false;
  p.write(s.operands[0],
          loweringOf(p).result(loweringOf(p).wait({.kind = WaitKind::ActiveMask}), p.b.getInt32Ty()));
  return true;
}

/// elect.sync d|p, mask: the lowest lane of the mask.
bool elect(Builder& p, const Statement& s) {
  if (s.operands.size() != 2) return false;
  auto* mask = p.bits(s.operands[1], kWord);
  loweringOf(p).wait({.kind = WaitKind::WarpSync, .a = mask});
  auto* leader = p.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask, p.b.getFalse());
  writePair(p, s.operands[0], leader, p.b.CreateICmpEQ(leader, p.target.special(p.b, "laneid")));
  return true;
}

bool sleep(Builder& p, const Statement&) {
  loweringOf(p).wait({.kind = WaitKind::Yield});
  return true;
}

bool leave(Builder& p, const Statement&) {
  loweringOf(p).runtime(Call::kcExit);
  return true;
}

bool trap(Builder& p, const Statement&) {
  loweringOf(p).trap();
  return true;
}

bool nothing(Builder&, const Statement&) { return true; }

} // namespace

void addSynchronisation(Rules& rules) {
  rules["bar"] = rules["barrier"] = barrier;
  rules["shfl"] = shuffle;
  rules["vote"] = vote;
  rules["match"] = match;
  rules["redux"] = reduce;
  rules["activemask"] = activeMask;
  rules["elect"] = elect;
  rules["nanosleep"] = sleep;
  rules["exit"] = leave;
  rules["trap"] = rules["brkpt"] = trap;
  for (const char* op : {"griddepcontrol", "setmaxnreg", "pmevent"}) rules[op] = nothing;
}

} // namespace kcheck::instrument
