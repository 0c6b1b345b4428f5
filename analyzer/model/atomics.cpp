// What atomic operations do: an access of their own, and a result that may order threads, or shares work out
// among them (tickets and claims).
#include "analyzer/model/execution.h"

#include "analyzer/model/integer_functions.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace kcheck::analyzer {

/// atomicAdd and its relatives arrive without a scope of their own: they are device-wide. Of any other scope
/// no more is known than that it holds a block.
AtomicScope scopeOf(SyncScope::ID scope) {
  return scope == SyncScope::System ? AtomicScope::Device : AtomicScope::Block;
}

AtomicScope scopeIn(StringRef name) {
  if (name.contains(".cta")) return AtomicScope::Block;
  if (name.contains(".sys")) return AtomicScope::System;
  return AtomicScope::Device;
}

void Execution::noteUpdate(const Instruction& instruction, unsigned object, const Update& update) {
  if (recording && !state.knowsWritten) state.updatesSeen[object][update].insert(instruction.getParent());
}

/// What the operation leaves where it has found `found`. Null where that is not followed.
Expr Execution::leftBehind(const Instruction& instruction, Expr found, Expr& differs) {
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    Expr expected = value(exchange->getCompareOperand()), given = value(exchange->getNewValOperand());
    if (expected->width != found->width || given->width != found->width) return nullptr;
    // Who stores its own number may store what it expects; a value of the input hardly does: keys are no
    // empty slots.
    if (isConst(given) || !isOfIndices(given)) differs = exprs.logicalNot(exprs.eq(expected, given));
    return exprs.ite(exprs.eq(found, expected), given, found);
  }
  if (auto* call = dyn_cast<IntrinsicInst>(&instruction);
      call && call->getIntrinsicID() == Intrinsic::nvvm_atomic_load_inc_32) {
    Expr isLast = exprs.binary(Op::Ule, value(call->getArgOperand(1)), found);
    return exprs.ite(isLast, exprs.constant(32, 0), exprs.add(found, exprs.constant(32, 1)));
  }
  auto* update = dyn_cast<AtomicRMWInst>(&instruction);
  if (!update || !update->getType()->isIntegerTy()) return nullptr;
  Expr operand = value(update->getValOperand());
  if (operand->width != found->width) return nullptr;
  switch (update->getOperation()) {
  case AtomicRMWInst::Xchg: return operand;
  case AtomicRMWInst::Add: return exprs.add(found, operand);
  case AtomicRMWInst::Sub: return exprs.sub(found, operand);
  case AtomicRMWInst::And: return exprs.binary(Op::And, found, operand);
  case AtomicRMWInst::Or: return exprs.binary(Op::Or, found, operand);
  case AtomicRMWInst::Xor: return exprs.binary(Op::Xor, found, operand);
  case AtomicRMWInst::Max: return minimumOrMaximum(exprs, found, operand, true, false);
  case AtomicRMWInst::Min: return minimumOrMaximum(exprs, found, operand, true, true);
  case AtomicRMWInst::UMax: return minimumOrMaximum(exprs, found, operand, false, false);
  case AtomicRMWInst::UMin: return minimumOrMaximum(exprs, found, operand, false, true);
  default: return nullptr;
  }
}

/// So that two threads can be looked at of which one comes right after the other. `symbol` is in what has
/// been found, or is it.
std::optional<AtomicUpdate> Execution::noteResult(const Instruction& instruction, Expr pointer, Expr found,
                                                  const Symbol* symbol) {
  const auto places = state.objects.places(pointer);
  if (places.size() != 1 || state.objects[places[0].object].isUnknown) return {};
  AtomicUpdate update{places[0].object, places[0].offset, found};
  update.left = leftBehind(instruction, found, update.differs);
  update.number = state.numberOf(instruction);
  if (!update.left) return {};
  state.model.updates[symbol] = update;
  return update;
}

/// The least or the greatest.
static bool keepsOneOfTwo(const Instruction& instruction) {
  auto* update = dyn_cast<AtomicRMWInst>(&instruction);
  if (!update) return false;
  switch (update->getOperation()) {
  case AtomicRMWInst::Max:
  case AtomicRMWInst::Min:
  case AtomicRMWInst::UMax:
  case AtomicRMWInst::UMin:
  case AtomicRMWInst::FMax:
  case AtomicRMWInst::FMin: return true;
  default: return false;
  }
}

void Execution::runAtomic(const Instruction& instruction, Expr pointer, unsigned bytes, AtomicScope scope,
                          const Update& update, Expr condition, Expr size) {
  for (const Place& place : state.objects.places(pointer)) noteUpdate(instruction, place.object, update);
  Expr given = update.kind == Update::Kind::Exchange ? exprs.constant(bytes * 8, update.value) : nullptr;
  record(instruction, AccessKind::Atomic, pointer, exprs.constant(64, bytes ? bytes : 1), condition, given,
         scope);
  if (keepsOneOfTwo(instruction))
    for (RunAccess& access : accesses)
      if (access.instruction == &instruction) access.access.isOfValue = true;
  if (!isRelevant(&instruction)) return;
  Expr number = update.isTicket() ? ticket(instruction, pointer, update, size, condition)
                                  : claim(instruction, pointer, update, size);
  if (number) {
    env[&instruction] = number;
    if (update.isTicket())
      if (Expr total = counted(state.objects.places(pointer).front(),
                               instruction.getParent())) { // a ticket has one place
        Expr taken = update.kind == Update::Kind::Room ? exprs.add(number, size) : number;
        Expr within = exprs.binary(update.kind == Update::Kind::Room ? Op::Ule : Op::Ult, taken, total);
        Expr& known = state.drawnWithin[number];
        within = exprs.logicalOr(exprs.logicalNot(condition), within);
        known = known ? exprs.logicalAnd(known, within) : within;
      }
    return drawTicket(instruction);
  }
  std::string line = state.lineText(instruction);
  Symbol* symbol = local(instruction, "atomic", "atomic result (" + line + ")", bytes * 8);
  const bool isLock = state.takesLock(instruction, pointer);
  symbol->exact = false;
  symbol->cause = {isLock                         ? CauseKind::Lock
                   : isOnlyWaitedFor(instruction) ? CauseKind::Wait
                                                  : CauseKind::Order,
                   "the result of the atomic operation at " + line};
  state.synchronizing.insert(symbol);
  if (isLock) state.lockResults.insert(symbol);
  env[&instruction] = exprs.of(symbol);
  noteResult(instruction, pointer, env[&instruction], symbol);
  drawTicket(instruction);
}

/// Those that are no instructions of LLVM's.
bool Execution::runAtomicIntrinsic(const CallInst& call, Expr condition) {
  auto argument = [&](unsigned i) { return value(call.getArgOperand(i)); };
  const auto intrinsic = call.getIntrinsicID();
  if (intrinsic == Intrinsic::nvvm_atomic_load_inc_32 || intrinsic == Intrinsic::nvvm_atomic_load_dec_32) {
    runAtomic(call, argument(0), 4, AtomicScope::Device,
              roundOf(argument(1), intrinsic == Intrinsic::nvvm_atomic_load_dec_32), condition);
    return true;
  }
  const StringRef name = call.getCalledFunction()->getName();
  if (!name.starts_with("llvm.nvvm.atomic.")) return false;
  Update update;
  if (name.contains(".add.gen.i")) update = additionOf(argument(1), condition);
  if (name.contains(".exch.gen.i") && isConst(argument(1)))
    update = {Update::Kind::Exchange, argument(1)->value};
  if (name.contains(".or.gen.i")) update = {Update::Kind::Mark};
  if (name.contains(".and.gen.i")) update = {Update::Kind::Clear};
  if (name.contains(".cas.gen.i")) update = claimOf(exprs, argument(1), argument(2), condition);
  runAtomic(call, argument(0), widthOf(call.getType(), state.layout) / 8, scopeIn(name), update, condition,
            argument(1));
  return true;
}

void Execution::runUpdate(const AtomicRMWInst& update, Expr condition) {
  Expr operand = value(update.getValOperand());
  Update what;
  switch (update.getOperation()) {
  case AtomicRMWInst::Add: what = additionOf(operand, condition); break;
  case AtomicRMWInst::Sub:
    if (isConst(operand)) what = additionOf(exprs.sub(exprs.constant(operand->width, 0), operand), condition);
    break;
  case AtomicRMWInst::Or: what = {Update::Kind::Mark}; break;
  case AtomicRMWInst::And: what = {Update::Kind::Clear}; break;
  case AtomicRMWInst::UIncWrap: what = roundOf(operand, false); break;
  case AtomicRMWInst::UDecWrap: what = roundOf(operand, true); break;
  case AtomicRMWInst::Xchg:
    if (isConst(operand)) what = {Update::Kind::Exchange, operand->value};
    break;
  default: break;
  }
  state.objects.letEscape(value(update.getValOperand()));
  runAtomic(update, value(update.getPointerOperand()), widthOf(update.getType(), state.layout) / 8,
            scopeOf(update.getSyncScopeID()), what, condition, operand);
}

void Execution::runExchange(const AtomicCmpXchgInst& exchange, Expr condition) {
  unsigned size = widthOf(exchange.getCompareOperand()->getType(), state.layout) / 8;
  state.objects.letEscape(value(exchange.getNewValOperand()));
  runAtomic(
      exchange, value(exchange.getPointerOperand()), size, scopeOf(exchange.getSyncScopeID()),
      claimOf(exprs, value(exchange.getCompareOperand()), value(exchange.getNewValOperand()), condition),
      condition);
}

} // namespace kcheck::analyzer
