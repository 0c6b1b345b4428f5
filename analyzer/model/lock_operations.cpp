#include "analyzer/model/lock_operations.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace kcheck::analyzer {

std::optional<std::int64_t> constantOf(const Value* value) {
  auto* number = dyn_cast<ConstantInt>(value);
  return number && number->getBitWidth() <= 64 ? std::optional(number->getSExtValue()) : std::nullopt;
}

unsigned operationReach(const Instruction& atomic) {
  const auto scope = getAtomicSyncScopeID(&atomic);
  return !scope || *scope == SyncScope::System ? 2 : 1;
}

std::int64_t LockOperation::leaves(std::int64_t found) const {
  switch (change) {
  case LockChange::Store: return stored;
  case LockChange::Or: return found | stored;
  case LockChange::And: return found & stored;
  case LockChange::Add: return found + stored;
  case LockChange::Subtract: return found - stored;
  case LockChange::Xor: return found ^ stored;
  }
  return stored;
}

static std::optional<LockChange> changeOf(AtomicRMWInst::BinOp operation) {
  switch (operation) {
  case AtomicRMWInst::Xchg: return LockChange::Store;
  case AtomicRMWInst::Or: return LockChange::Or;
  case AtomicRMWInst::And: return LockChange::And;
  case AtomicRMWInst::Add: return LockChange::Add;
  case AtomicRMWInst::Sub: return LockChange::Subtract;
  case AtomicRMWInst::Xor: return LockChange::Xor;
  default: return {};
  }
}

/// By the part of an intrinsic's name behind `llvm.nvvm.atomic.`.
static std::optional<LockChange> changeOf(StringRef name) {
  if (name.starts_with("exch.gen.i")) return LockChange::Store;
  if (name.starts_with("or.gen.i")) return LockChange::Or;
  if (name.starts_with("and.gen.i")) return LockChange::And;
  if (name.starts_with("add.gen.i")) return LockChange::Add;
  if (name.starts_with("xor.gen.i")) return LockChange::Xor;
  return {};
}

/// Nothing is left of what was there where all its bits are taken away.
static LockOperation operationOf(const Value* pointer, LockChange change, std::int64_t stored,
                                 unsigned scope) {
  if (change == LockChange::And && stored == 0) change = LockChange::Store;
  return {pointer, {}, stored, scope, change};
}

/// `threadIdx.x` and the like: the part of its name that says what it is, `.x` the axis; else nothing.
static StringRef launchNumber(const Value* value) {
  auto* call = dyn_cast<IntrinsicInst>(value);
  StringRef name = call ? call->getCalledFunction()->getName() : StringRef();
  return name.consume_front("llvm.nvvm.read.ptx.sreg.") ? name : StringRef();
}

/// An index or dimension of the launch, or a thread's number in the grid along an axis: from 0 to 2^31 - 1.
static bool isNumberOfLaunch(const Value* value) {
  for (StringRef start : {"tid.", "ctaid.", "ntid.", "nctaid.", "laneid"})
    if (launchNumber(value).starts_with(start)) return true;
  Value *x = nullptr, *y = nullptr, *thread = nullptr;
  if (!match(value, m_c_Add(m_Mul(m_Value(x), m_Value(y)), m_Value(thread)))) return false;
  StringRef block = launchNumber(x), width = launchNumber(y), own = launchNumber(thread);
  if (width.starts_with("ctaid.")) std::swap(block, width);
  return block.consume_front("ctaid.") && width.consume_front("ntid.") && own.consume_front("tid.") &&
         block == width && block == own;
}

/// From 0 on, and far from where its type ends.
static bool isSmallNumber(const Value* value) {
  if (auto* wide = dyn_cast<CastInst>(value); wide && wide->getDestTy()->isIntegerTy(64))
    return wide->getOpcode() == Instruction::ZExt ||
           (wide->getOpcode() == Instruction::SExt && isNumberOfLaunch(wide->getOperand(0)));
  return isNumberOfLaunch(value);
}

/// Whether the number is surely another one than that constant: `blockIdx.x + 1` is not 0, `blockIdx.x` not
/// -1, `2 * blockIdx.x + 1` not even.
static bool isNever(const Value* number, std::int64_t other, const DataLayout& layout) {
  const KnownBits bits = computeKnownBits(number, layout);
  const APInt wanted(bits.getBitWidth(), static_cast<std::uint64_t>(other), true);
  if (bits.Zero.intersects(wanted) || bits.One.intersects(~wanted)) return true;
  const Value* base = number;
  std::int64_t more = 0;
  if (const APInt* added = nullptr;
      match(number, m_Add(m_Value(base), m_APInt(added))) && added->getBitWidth() <= 64)
    more = added->getSExtValue();
  else
    base = number;
  constexpr std::int64_t kMost = 1 << 20;
  if (more < 0 || more > kMost || !isSmallNumber(base)) return false;
  return (other >= 0 && other < more) || (other < 0 && other > -kMost);
}

namespace {

/// A compare-and-swap, by whichever instruction.
struct Exchange {
  const Value *pointer = nullptr, *expects = nullptr, *stores = nullptr;
  unsigned scope = 2;
};

Exchange exchangeOf(const Instruction& instruction) {
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return {exchange->getPointerOperand(), exchange->getCompareOperand(), exchange->getNewValOperand(),
            operationReach(*exchange)};
  auto* call = dyn_cast<IntrinsicInst>(&instruction);
  StringRef name = call ? call->getCalledFunction()->getName() : StringRef();
  if (!name.starts_with("llvm.nvvm.atomic.cas.gen.i")) return {};
  return {call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2),
          name.contains(".cta") ? 1u : 2u};
}

} // namespace

std::optional<LockOperation> givesBackOwn(const Instruction& instruction, const LockOperation& taking) {
  const Exchange exchange = exchangeOf(instruction);
  if (!exchange.pointer || !taking.expected || constantOf(exchange.stores) != taking.expected) return {};
  const bool findsOwn = taking.own ? isSameAddress(taking.own, exchange.expects)
                                   : constantOf(exchange.expects) == taking.stored;
  return findsOwn ? std::optional(LockOperation{exchange.pointer, {}, *taking.expected, exchange.scope})
                  : std::nullopt;
}

std::optional<LockOperation> lockOperationOf(const Instruction& instruction) {
  if (auto* store = dyn_cast<StoreInst>(&instruction)) {
    auto stored = constantOf(store->getValueOperand());
    if ((!store->isAtomic() && !store->isVolatile()) || !stored) return {};
    return LockOperation{store->getPointerOperand(), {}, *stored, operationReach(*store)};
  }
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    const auto stored = constantOf(update->getValOperand());
    const auto change = changeOf(update->getOperation());
    if (!change || !stored) return {};
    return operationOf(update->getPointerOperand(), *change, *stored, operationReach(*update));
  }
  if (const Exchange exchange = exchangeOf(instruction); exchange.pointer) {
    const auto expected = constantOf(exchange.expects), stored = constantOf(exchange.stores);
    if (!expected || expected == stored) return {};
    if (stored) return LockOperation{exchange.pointer, expected, *stored, exchange.scope};
    if (!isNever(exchange.stores, *expected, instruction.getModule()->getDataLayout())) return {};
    return LockOperation{exchange.pointer, expected,          kOwnNumber,
                         exchange.scope,   LockChange::Store, exchange.stores};
  }
  auto* call = dyn_cast<IntrinsicInst>(&instruction);
  StringRef name = call ? call->getCalledFunction()->getName() : StringRef();
  if (!name.consume_front("llvm.nvvm.atomic.")) return {};
  unsigned scope = name.contains(".cta") ? 1 : 2;
  if (const auto change = changeOf(name)) {
    const auto stored = constantOf(call->getArgOperand(1));
    return stored ? std::optional(operationOf(call->getArgOperand(0), *change, *stored, scope))
                  : std::nullopt;
  }
  return {};
}

static bool addsOne(const Instruction& instruction) {
  auto* update = dyn_cast<AtomicRMWInst>(&instruction);
  return update && update->getOperation() == AtomicRMWInst::Add && constantOf(update->getValOperand()) == 1;
}

const Instruction* drawOf(const Value* number) {
  auto* draw = dyn_cast<Instruction>(number);
  return draw && addsOne(*draw) ? draw : nullptr;
}

std::optional<LockOperation> servesAnother(const Instruction& instruction) {
  const Value* served = nullptr;
  if (auto* store = dyn_cast<StoreInst>(&instruction); store && (store->isAtomic() || store->isVolatile()))
    served = store->getPointerOperand();
  auto* update = dyn_cast<AtomicRMWInst>(&instruction);
  if (update && (update->getOperation() == AtomicRMWInst::Xchg || addsOne(instruction)))
    served = update->getPointerOperand();
  return served ? std::optional(LockOperation{served, {}, 0, operationReach(instruction)}) : std::nullopt;
}

bool isSameAddress(const Value* x, const Value* y, unsigned depth) {
  x = x->stripPointerCasts();
  y = y->stripPointerCasts();
  if (x == y) return true;
  auto *a = dyn_cast<Instruction>(x), *b = dyn_cast<Instruction>(y);
  if (!a || !b || depth == 0 || a->getOpcode() != b->getOpcode() || a->getType() != b->getType() ||
      a->getNumOperands() != b->getNumOperands())
    return false;
  auto *read = dyn_cast<IntrinsicInst>(a), *again = dyn_cast<IntrinsicInst>(b); // indices and dimensions
  const bool isIndex =
      read && again && read->getIntrinsicID() == again->getIntrinsicID() && read->doesNotAccessMemory();
  if (!isa<GetElementPtrInst>(a) && !isa<CastInst>(a) && !isa<BinaryOperator>(a) && !isIndex) return false;
  if (auto* element = dyn_cast<GetElementPtrInst>(a);
      element && element->getSourceElementType() != cast<GetElementPtrInst>(b)->getSourceElementType())
    return false;
  for (unsigned i = 0; i < a->getNumOperands(); ++i)
    if (!isSameAddress(a->getOperand(i), b->getOperand(i), depth - 1)) return false;
  return true;
}

} // namespace kcheck::analyzer
