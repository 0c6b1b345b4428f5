// Copies that go on beside their thread (cp.async) and the barrier objects that threads and copies arrive at
// (mbarrier). A copy is made at once, which a right program cannot tell; the runtime keeps its writes apart
// from the thread's own until somebody has waited for them.
#include "instrument/pass/ptx/run_target.h"

#include <llvm/IR/Constants.h>

namespace kcheck::instrument {

using namespace ptx;

namespace {

using abi::BarrierObjectOp;
const Type kWord{Type::Kind::Unsigned, 32, 1};
const Type kState{Type::Kind::Unsigned, 64, 1};

llvm::Value* useObject(Builder& p, llvm::Value* object, BarrierObjectOp op, llvm::Value* value) {
  return loweringOf(p).runtime(Call::kcBarrierObject, {object, p.b.getInt32(std::uint32_t(op)),
                                                       p.b.CreateZExtOrTrunc(value, p.b.getInt64Ty())});
}

std::string spaceOf(const Statement& s) {
  for (const std::string& word : s.opcode)
    if (word.starts_with("shared")) return "shared";
  return "";
}

/// An access to the object for all other checks: as an atomic of its block.
void touch(Builder& p, llvm::Value* object) {
  loweringOf(p).update(llvm::AtomicRMWInst::Add, object, p.b.getInt64(0), llvm::AtomicOrdering::Monotonic,
                       Scope::Block);
}

/// cp.async.mbarrier.arrive{.noinc} [object]
bool arriveOnCopies(Builder& p, const Statement& s) {
  if (s.operands.size() != 1) return false;
  auto* object = p.address(s.operands[0], spaceOf(s));
  touch(p, object);
  useObject(p, object, BarrierObjectOp::ArriveOnCopies, p.b.getInt64(s.has("noinc")));
  return true;
}

/// cp.async.{ca,cg}.shared.global [to], [from], bytes{, bytes read}; what is not read is zero.
bool start(Builder& p, const Statement& s) {
  if (s.operands.size() < 3) return false;
  auto* to = p.address(s.operands[0], "shared");
  auto* from = p.address(s.operands[1], "global");
  auto* bytes = p.bits(s.operands[2], kWord);
  llvm::Value* read = bytes;
  if (s.operands.size() > 3) {
    read = p.b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, p.bits(s.operands[3], kWord), bytes);
    loweringOf(p).sited(p.b.CreateMemSet(to, p.b.getInt8(0), bytes, llvm::Align(1)));
  }
  auto* wide = p.b.CreateZExt(read, p.b.getInt64Ty());
  loweringOf(p).sited(p.b.CreateMemCpy(to, llvm::Align(1), from, llvm::Align(1), wide));
  loweringOf(p).runtime(Call::kcAsyncCopy, {to, p.b.CreateZExt(bytes, p.b.getInt64Ty()), from, wide});
  return true;
}

bool copy(Builder& p, const Statement& s) {
  if (s.opcode.size() < 2 || s.opcode[1] != "async" || s.has("bulk")) return false;
  if (s.has("mbarrier")) return arriveOnCopies(p, s);
  if (s.has("commit_group")) {
    loweringOf(p).runtime(Call::kcAsyncCommit);
    return true;
  }
  if (s.has("wait_all")) {
    loweringOf(p).runtime(Call::kcAsyncWait, {p.b.getInt32(abi::kAllCopies)});
    return true;
  }
  if (s.has("wait_group")) {
    if (s.operands.size() != 1) return false;
    loweringOf(p).runtime(Call::kcAsyncWait, {p.bits(s.operands[0], kWord)});
    return true;
  }
  return start(p, s);
}

bool arrive(Builder& p, const Statement& s) {
  if (s.has("expect_tx") || s.operands.size() < 2 || s.has("shared::cluster")) return false;
  auto* object = p.address(s.operands[1], spaceOf(s));
  llvm::Value* count = s.operands.size() > 2 ? p.bits(s.operands[2], kWord) : p.b.getInt32(1);
  touch(p, object);
  auto op = s.opcode[1] == "arrive_drop" ? BarrierObjectOp::ArriveDrop : BarrierObjectOp::Arrive;
  p.write(s.operands[0], useObject(p, object, op, count));
  return true;
}

/// {test,try}_wait{.parity} p, [object], state{, hint}: others get their turn first.
bool test(Builder& p, const Statement& s) {
  if (s.operands.size() < 3) return false;
  auto* object = p.address(s.operands[1], spaceOf(s));
  bool byParity = s.has("parity");
  auto* state = p.bits(s.operands[2], byParity ? kWord : kState);
  loweringOf(p).wait({.kind = abi::WaitKind::Yield});
  touch(p, object);
  auto* done = useObject(p, object, byParity ? BarrierObjectOp::TestParity : BarrierObjectOp::Test, state);
  p.write(s.operands[0], p.b.CreateICmpNE(done, p.b.getInt64(0)));
  return true;
}

bool barrierObject(Builder& p, const Statement& s) {
  if (s.opcode.size() < 2) return false;
  const std::string& what = s.opcode[1];
  if (what == "init") {
    if (s.operands.size() != 2) return false;
    auto* object = p.address(s.operands[0], spaceOf(s));
    auto* state = useObject(p, object, BarrierObjectOp::Init, p.bits(s.operands[1], kWord));
    loweringOf(p).sited(p.b.CreateAlignedStore(state, object, llvm::Align(8)));
    return true;
  }
  if (what == "inval") {
    if (s.operands.size() != 1) return false;
    loweringOf(p).sited(
        p.b.CreateAlignedStore(p.b.getInt64(0), p.address(s.operands[0], spaceOf(s)), llvm::Align(8)));
    return true;
  }
  if (what == "arrive" || what == "arrive_drop") return arrive(p, s);
  if (what == "test_wait" || what == "try_wait") return test(p, s);
  if (what == "pending_count") {
    if (s.operands.size() != 2) return false;
    auto* pending = p.b.CreateAnd(p.b.CreateLShr(p.bits(s.operands[1], kState), 20), (1u << 20) - 1);
    p.write(s.operands[0], p.b.CreateTrunc(pending, p.b.getInt32Ty()));
    return true;
  }
  return false;
}

} // namespace

void addAsync(Rules& rules) {
  rules["cp"] = copy;
  rules["mbarrier"] = barrierObject;
}

} // namespace kcheck::instrument
