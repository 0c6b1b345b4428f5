// What single instructions do to the environment: arithmetic, casts, addresses; and which file knows of the
// others.
#include "analyzer/expr/range.h"
#include "analyzer/model/execution.h"

#include "analyzer/model/declared_objects.h"
#include "analyzer/model/exact_floats.h"
#include "analyzer/model/warp_values.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"

using namespace llvm;

namespace kcheck::analyzer {

static std::uint8_t flagsOf(const Value& v) {
  auto* op = dyn_cast<OverflowingBinaryOperator>(&v);
  if (!op) return NoFlags;
  return std::uint8_t((op->hasNoSignedWrap() ? NoSignedWrap : 0) |
                      (op->hasNoUnsignedWrap() ? NoUnsignedWrap : 0));
}

void Execution::runInstruction(const Instruction& instruction, Expr& condition) {
  if (auto* read = dyn_cast<LoadInst>(&instruction)) return runLoad(*read, condition);
  if (auto* write = dyn_cast<StoreInst>(&instruction)) return runStore(*write, condition);
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) return runUpdate(*update, condition);
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) return runExchange(*exchange, condition);
  if (auto* call = dyn_cast<CallInst>(&instruction)) return runCall(*call, condition);
  if (isa<InsertValueInst>(instruction)) return; // aggregate() looks through it
  if (isRelevant(&instruction)) env[&instruction] = askedOfDrawn(instruction, result(instruction));
}

/// A piece of a copy that has been marked: the marker carries the access.
bool Execution::isCopyPart(const Instruction& instruction) const {
  return siteOf(instruction) == kNoSite && instruction.getDebugLoc() &&
         state.prepared.copies.count(instruction.getDebugLoc()) != 0;
}

Expr Execution::bytesOf(llvm::Type* accessed) {
  return exprs.constant(64, std::int64_t(state.layout.getTypeStoreSize(accessed).getFixedValue()));
}

void Execution::runLoad(const LoadInst& read, Expr condition) {
  Expr pointer = value(read.getPointerOperand());
  const bool ordered = read.isAtomic();
  if (!isCopyPart(read))
    record(read, ordered ? AccessKind::Atomic : AccessKind::Read, pointer, bytesOf(read.getType()), condition,
           nullptr, ordered ? scopeOf(read.getSyncScopeID()) : AtomicScope::None, read.isVolatile());
  if (isRelevant(&read)) env[&read] = load(read, pointer, condition, read.isVolatile() || ordered);
}

void Execution::runStore(const StoreInst& write, Expr condition) {
  const Value* v = write.getValueOperand();
  const bool known = isa<Constant>(v) || isa<llvm::Argument>(v) || isRelevant(v);
  const bool ordered = write.isAtomic();
  Expr pointer = value(write.getPointerOperand());
  if (isCopyPart(write)) {
    bool wasRecording = recording;
    recording = false;
    record(write, AccessKind::Write, pointer, nullptr, condition);
    recording = wasRecording;
    return;
  }
  if (known && state.broadcasts.isSource(write)) handed[&write] = value(v);
  if (known && state.laneStores.isSource(write)) laneStored[&write] = {pointer, value(v), condition};
  record(write, ordered ? AccessKind::Atomic : AccessKind::Write, pointer, bytesOf(v->getType()), condition,
         known ? value(v) : nullptr, ordered ? scopeOf(write.getSyncScopeID()) : AtomicScope::None,
         write.isVolatile());
}

/// Of what touches no memory.
Expr Execution::result(const Instruction& instruction) {
  if (auto* op = dyn_cast<BinaryOperator>(&instruction)) return arithmetic(*op);
  if (auto* compare = dyn_cast<ICmpInst>(&instruction)) return comparison(*compare);
  if (auto* compare = dyn_cast<FCmpInst>(&instruction)) return realComparison(*compare);
  if (auto* conversion = dyn_cast<CastInst>(&instruction)) return cast(*conversion);
  if (auto* address = dyn_cast<GEPOperator>(&instruction)) return gep(*address);
  if (auto* extract = dyn_cast<ExtractValueInst>(&instruction)) return aggregate(*extract);
  if (auto* insert = dyn_cast<InsertElementInst>(&instruction)) return vectorOf(*insert);
  if (auto* extract = dyn_cast<ExtractElementInst>(&instruction))
    if (Expr element = elementOf(*extract)) return element;
  if (isa<FreezeInst>(instruction)) return value(instruction.getOperand(0));
  if (auto* choice = dyn_cast<SelectInst>(&instruction);
      choice && isScalarInteger(choice->getCondition()->getType()))
    return exprs.ite(value(choice->getCondition()), value(choice->getTrueValue()),
                     value(choice->getFalseValue()));
  if (auto* local = dyn_cast<AllocaInst>(&instruction))
    return state.objects.pointerTo(localObject(state, *local));
  return opaque(instruction, instruction.getOpcodeName());
}

Expr Execution::gep(const GEPOperator& address) {
  Expr offset = exprs.constant(64, 0);
  std::uint8_t flags = address.isInBounds() ? NoSignedWrap : NoFlags;
  for (auto it = gep_type_begin(address); it != gep_type_end(address); ++it) {
    if (StructType* record = it.getStructTypeOrNull()) {
      std::uint64_t field = cast<ConstantInt>(it.getOperand())->getZExtValue();
      auto bytes = state.layout.getStructLayout(record)->getElementOffset(unsigned(field)).getFixedValue();
      offset = exprs.add(offset, exprs.constant(64, std::int64_t(bytes)), flags);
      continue;
    }
    Expr index = value(it.getOperand());
    if (index->width < 64) index = exprs.extend(Op::SExt, 64, index);
    auto stride = it.getSequentialElementStride(state.layout).getFixedValue();
    offset = exprs.add(offset, exprs.mul(index, exprs.constant(64, std::int64_t(stride)), flags), flags);
  }
  return exprs.add(value(address.getPointerOperand()), offset, flags);
}

static bool isKnownLaunch(const LaunchCase& launch) {
  return launch.isOfProgram() || (launch.launch && launch.launch->origin == LaunchOrigin::Annotation);
}

/// Whether a signed operation leaves its type for some threads of a launch of the program that is known
/// whole. GPUs wrap then, whatever the language says.
bool Execution::surelyWraps(const BinaryOperator& op, Expr a, Expr b) {
  const auto isKnown = [](Expr e) { return !e || isConst(e); };
  const Op kind = op.getOpcode() == Instruction::Add   ? Op::Add
                  : op.getOpcode() == Instruction::Mul ? Op::Mul
                                                       : Op::Shl;
  const bool isOne = kind != Op::Shl || op.getOpcode() == Instruction::Shl;
  if (!isOne || a->width < 32 || !isKnownLaunch(state.launch) || !all_of(state.model.blockDim, isKnown) ||
      !all_of(state.model.gridDim, isKnown))
    return false;
  for (Expr e : {a, b})
    if (anyNode(e, [](Expr n) { return n->op == Op::Apply || (n->op == Op::Symbol && !isIndex(n)); }))
      return false;
  Expr made = exprs.binary(kind, a, b);
  Ranges ranges;
  return (made->op == Op::Add || made->op == Op::Mul || made->op == Op::Shl) && !ranges.isExact(made);
}

Expr Execution::arithmetic(const BinaryOperator& op) {
  if (!isScalarInteger(op.getType())) return opaque(op, op.getOpcodeName());
  Expr a = value(op.getOperand(0)), b = value(op.getOperand(1));
  std::uint8_t flags = flagsOf(op);
  if (flags & NoSignedWrap && surelyWraps(op, a, b)) flags &= std::uint8_t(~NoSignedWrap);
  if (auto known = state.multiplied.find(&op); known != state.multiplied.end()) {
    if (!known->second.assumption.empty()) state.assume(known->second.assumption);
    flags |= known->second.flags;
    if (Expr next = nextProduct(op, a, b, known->second.flags)) return next;
  }
  switch (op.getOpcode()) {
  case Instruction::Add:
    return state.inOneRow(
        exprs.binary(Op::Add, a, b, std::uint8_t(flags | state.launchFlags(Op::Add, a, b))));
  case Instruction::Sub: return exprs.sub(a, b, flags);
  case Instruction::Mul:
    return exprs.binary(Op::Mul, a, b, std::uint8_t(flags | state.launchFlags(Op::Mul, a, b)));
  case Instruction::UDiv: return exprs.binary(Op::UDiv, a, b);
  case Instruction::SDiv: return exprs.binary(Op::SDiv, a, b);
  case Instruction::URem: return exprs.binary(Op::URem, a, b);
  case Instruction::SRem: return exprs.binary(Op::SRem, a, b);
  case Instruction::Shl: return exprs.binary(Op::Shl, a, b, flags);
  case Instruction::LShr: return exprs.binary(Op::LShr, a, b);
  case Instruction::AShr: return exprs.binary(Op::AShr, a, b);
  case Instruction::And:
    if (Expr vote = ownVote(state, a, b)) return vote;
    return exprs.binary(Op::And, a, b);
  case Instruction::Or: return exprs.binary(Op::Or, a, b);
  case Instruction::Xor: return exprs.binary(Op::Xor, a, b);
  default: return opaque(op, op.getOpcodeName());
  }
}

Expr Execution::cast(const CastInst& cast) {
  const Value* operand = cast.getOperand(0);
  unsigned width = widthOf(cast.getType(), state.layout);
  auto isSimple = [](const Type* type) {
    return isScalarInteger(type) || type->isPointerTy() || type->isFloatingPointTy();
  };
  if (!isSimple(cast.getType()) || !isSimple(operand->getType())) return opaque(cast, cast.getOpcodeName());
  Expr v = value(operand);
  switch (cast.getOpcode()) {
  case Instruction::ZExt: return exprs.extend(Op::ZExt, width, v);
  case Instruction::SExt: return exprs.extend(Op::SExt, width, v);
  case Instruction::Trunc: return exprs.extend(Op::Trunc, width, v);
  case Instruction::AddrSpaceCast: return v;
  case Instruction::BitCast:
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
    if (cast.getType()->isPointerTy() && cast.getType()->getPointerAddressSpace() == 3)
      return pointerToShared(cast);
    if (v->width == width) return v;
    return exprs.extend(v->width > width ? Op::Trunc : Op::ZExt, width, v);
  case Instruction::FPToSI:
  case Instruction::FPToUI:
    if (Expr exact = exactInteger(exprs, cast, [&](const Value* integer) { return value(integer); }))
      return exact;
    return opaque(cast, cast.getOpcodeName());
  default: return opaque(cast, cast.getOpcodeName());
  }
}

/// A field of a struct value: where it was put in, if that is in sight.
Expr Execution::aggregate(const ExtractValueInst& extract) {
  const Value* whole = extract.getAggregateOperand();
  auto known = env.find(whole);
  bool isAtomic = isa<AtomicCmpXchgInst>(whole);
  if (const Value* inserted = FindInsertedValue(const_cast<Value*>(whole), extract.getIndices()))
    return value(inserted);
  if (isAtomic && known != env.end() && extract.getIndices().front() == 0 &&
      known->second->width == widthOf(extract.getType(), state.layout))
    return known->second;
  Expr result = fresh(&extract, "field", "a field",
                      {isAtomic ? CauseKind::Order : CauseKind::Approximation,
                       "a struct value at " + state.lineText(extract)});
  if (isAtomic) state.synchronizing.insert(result->symbol);
  return result;
}

} // namespace kcheck::analyzer
