// Barriers, votes, shuffles, matches and reductions as waits.
#include "instrument/pass/lowering.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Constants.h>

namespace kcheck::instrument {

namespace {

using abi::WaitKind;

llvm::Value* number(Lowering& l, std::uint32_t value) { return l.b.getInt32(value); }

/// bar.sync and barrier.sync in their forms: (), (id), (id, threads).
bool lowerBarrier(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  bool isUnaligned = name.starts_with("barrier.sync");
  auto block = [&](llvm::Value* id, llvm::Value* count, abi::BarrierOp op, llvm::Value* predicate) {
    return l.wait({.kind = WaitKind::BlockBarrier,
                   .a = id,
                   .b = count,
                   .c = number(l, std::uint32_t(op)),
                   .d = predicate,
                   .unaligned = isUnaligned});
  };
  if (name == "barrier0" || name == "barrier.cta.sync.aligned.all.0") {
    block(nullptr, nullptr, abi::BarrierOp::None, nullptr);
  } else if (name == "barrier0.popc" || name == "barrier0.and" || name == "barrier0.or") {
    auto op = name == "barrier0.popc"  ? abi::BarrierOp::Count
              : name == "barrier0.and" ? abi::BarrierOp::And
                                       : abi::BarrierOp::Or;
    auto* holds = l.b.CreateZExt(l.b.CreateICmpNE(l.operand(0), number(l, 0)), l.b.getInt32Ty());
    value = l.result(block(nullptr, nullptr, op, holds), l.type());
  } else if (name == "barrier.n" || name == "barrier.sync" || name == "bar.sync") {
    block(l.operand(0), nullptr, abi::BarrierOp::None, nullptr);
  } else if (name == "barrier" || name == "barrier.sync.cnt") {
    block(l.operand(0), l.operand(1), abi::BarrierOp::None, nullptr);
  } else if (name == "bar.warp.sync") {
    l.wait({.kind = WaitKind::WarpSync, .a = l.operand(0)});
  } else {
    return false;
  }
  return true;
}

bool lowerVote(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  if (!name.consume_front("vote.")) return false;
  bool hasMask = name.consume_back(".sync");
  llvm::Value* mask =
      hasMask ? l.operand(0) : l.result(l.wait({.kind = WaitKind::ActiveMask}), l.b.getInt32Ty());
  auto mode = llvm::StringSwitch<std::optional<abi::VoteMode>>(name)
                  .Case("all", abi::VoteMode::All)
                  .Case("any", abi::VoteMode::Any)
                  .Case("uni", abi::VoteMode::Uniform)
                  .Case("ballot", abi::VoteMode::Ballot)
                  .Default(std::nullopt);
  if (!mode) return false;
  auto* vote = l.wait({.kind = WaitKind::Vote,
                       .a = mask,
                       .b = number(l, std::uint32_t(*mode)),
                       .c = l.operand(hasMask ? 1 : 0)});
  value = l.type()->isIntegerTy(1) ? l.b.CreateICmpNE(l.result(vote, l.b.getInt32Ty()), number(l, 0))
                                   : l.result(vote, l.type());
  return true;
}

/// shfl.sync.MODE.TYPE[p](mask, value, lane, clamp), and without `sync` and mask.
bool lowerShuffle(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  if (!name.consume_front("shfl.")) return false;
  bool hasMask = name.consume_front("sync.");
  auto [modeName, typeName] = name.split('.');
  auto mode = llvm::StringSwitch<std::optional<abi::ShuffleMode>>(modeName)
                  .Case("idx", abi::ShuffleMode::Index)
                  .Case("up", abi::ShuffleMode::Up)
                  .Case("down", abi::ShuffleMode::Down)
                  .Case("bfly", abi::ShuffleMode::Butterfly)
                  .Default(std::nullopt);
  if (!mode) return false;
  unsigned first = hasMask ? 1 : 0;
  llvm::Value* mask =
      hasMask ? l.operand(0) : l.result(l.wait({.kind = WaitKind::ActiveMask}), l.b.getInt32Ty());
  auto* bits = l.b.CreateBitCast(l.operand(first), l.b.getInt32Ty());
  auto* wait = l.wait({.kind = WaitKind::Shuffle,
                       .a = mask,
                       .b = number(l, std::uint32_t(*mode)),
                       .c = l.operand(first + 1),
                       .d = l.operand(first + 2),
                       .e = bits});
  llvm::Type* valueType = l.operand(first)->getType();
  value = l.result(wait, valueType);
  if (typeName.ends_with("p"))
    value = l.b.CreateInsertValue(l.b.CreateInsertValue(llvm::PoisonValue::get(l.type()), value, 0),
                                  l.predicate(wait), 1);
  return true;
}

bool lowerMatchAndReduce(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  if (name.starts_with("match.any.sync.")) {
    value = l.result(
        l.wait({.kind = WaitKind::Match, .a = l.operand(0), .b = number(l, 0), .e = l.operand(1)}), l.type());
    return true;
  }
  if (name.starts_with("match.all.sync.")) {
    auto* wait = l.wait({.kind = WaitKind::Match, .a = l.operand(0), .b = number(l, 1), .e = l.operand(1)});
    value = l.result(wait, l.b.getInt32Ty());
    if (l.type()->isStructTy())
      value = l.b.CreateInsertValue(l.b.CreateInsertValue(llvm::PoisonValue::get(l.type()), value, 0),
                                    l.predicate(wait), 1);
    return true;
  }
  if (!name.consume_front("redux.sync.")) return false;
  auto op = llvm::StringSwitch<std::optional<abi::ReduceOp>>(name)
                .Case("add", abi::ReduceOp::Add)
                .Case("min", abi::ReduceOp::Min)
                .Case("max", abi::ReduceOp::Max)
                .Case("umin", abi::ReduceOp::UMin)
                .Case("umax", abi::ReduceOp::UMax)
                .Case("and", abi::ReduceOp::And)
                .Case("or", abi::ReduceOp::Or)
                .Case("xor", abi::ReduceOp::Xor)
                .Default(std::nullopt);
  if (!op) return false;
  // The intrinsic takes (value, mask), but Clang 19's header for __reduce_add_sync(mask, value), its only
  // user, passes them as it gets them.
  value = l.result(l.wait({.kind = WaitKind::Reduce,
                           .a = l.operand(0),
                           .b = number(l, std::uint32_t(*op)),
                           .e = l.operand(1)}),
                   l.type());
  return true;
}

} // namespace

bool lowerCollective(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  if (name == "activemask") {
    value = l.result(l.wait({.kind = WaitKind::ActiveMask}), l.type());
    return true;
  }
  return lowerBarrier(l, name, value) || lowerVote(l, name, value) || lowerShuffle(l, name, value) ||
         lowerMatchAndReduce(l, name, value);
}

} // namespace kcheck::instrument
