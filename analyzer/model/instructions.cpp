// What single instructions do to the environment: arithmetic, comparisons, casts, addresses, accesses.
#include "analyzer/model/execution.h"

#include "analyzer/model/exact_floats.h"
#include "analyzer/model/warp_values.h"
#include "report/metadata.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

std::uint8_t flagsOf(const Value& v) {
  auto* op = dyn_cast<OverflowingBinaryOperator>(&v);
  if (!op) return NoFlags;
  return std::uint8_t((op->hasNoSignedWrap() ? NoSignedWrap : 0) |
                      (op->hasNoUnsignedWrap() ? NoUnsignedWrap : 0));
}

bool isScalarInteger(const Type* type) { return type->isIntegerTy() && type->getIntegerBitWidth() <= 64; }

MemorySpace spaceOf(const GlobalVariable& variable) {
  switch (variable.getAddressSpace()) {
  case 3: return MemorySpace::Shared;
  case 4: return MemorySpace::Constant;
  default: return variable.isConstant() ? MemorySpace::Constant : MemorySpace::Global;
  }
}

/// atomicAdd and its relatives arrive without a scope of their own: they are device-wide. Of any other scope
/// no more is known than that it holds a block.
AtomicScope scopeOf(SyncScope::ID scope) {
  return scope == SyncScope::System ? AtomicScope::Device : AtomicScope::Block;
}

/// `tile` of `_ZZ6kernelPfE4tile`, `table` of `table`: the last length-prefixed part of a mangled name.
std::string sourceName(StringRef name) {
  std::string best = name.str();
  if (!name.starts_with("_Z")) return best;
  for (std::size_t i = 2; i < name.size(); ++i) {
    if (!llvm::isDigit(name[i])) continue;
    std::size_t length = 0, at = i;
    while (at < name.size() && llvm::isDigit(name[at])) length = length * 10 + std::size_t(name[at++] - '0');
    if (length == 0 || at + length > name.size()) continue;
    best = name.substr(at, length).str();
    i = at + length - 1;
  }
  return best;
}

unsigned elementBytesOf(Type* type, const DataLayout& layout) {
  while (auto* array = dyn_cast<ArrayType>(type)) type = array->getElementType();
  return type->isSized() ? unsigned(layout.getTypeAllocSize(type).getFixedValue()) : 0;
}

unsigned globalObject(KernelState& state, const GlobalVariable& variable) {
  MemoryObject fresh;
  fresh.space = spaceOf(variable);
  fresh.elementBytes = elementBytesOf(variable.getValueType(), state.layout);
  fresh.name = sourceName(variable.getName());
  bool dynamic = fresh.space == MemorySpace::Shared && variable.isDeclaration();
  if (dynamic) { // all `extern __shared__` arrays are the same memory
    fresh.bytes = state.launch.sharedBytes;
    return state.objects.object("dynamic shared memory", fresh);
  }
  fresh.bytes = state.layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
  unsigned id = state.objects.object("@" + variable.getName().str(), fresh);
  state.globals[id] = &variable;
  return id;
}

} // namespace

/// An unknown of its own in every iteration of the loops around the instruction.
Symbol* Execution::local(const Instruction& instruction, const std::string& role, const std::string& name,
                         unsigned width) {
  Symbol* symbol = state.symbols.get(&instruction, role, id, name, width, SymbolKind::Unknown);
  state.homes[symbol] = {state.loopInfo.getLoopFor(instruction.getParent()), id};
  state.origins[symbol] = &instruction;
  return symbol;
}

Expr Execution::fresh(const Value* v, const char* role, const std::string& name, const Cause& cause) {
  unsigned width = widthOf(v->getType(), state.layout);
  auto* instruction = dyn_cast<Instruction>(v);
  Symbol* symbol = instruction ? local(*instruction, role, name, width)
                               : state.symbols.get(v, role, id, name, width, SymbolKind::Unknown);
  symbol->exact = false;
  symbol->cause = cause;
  return exprs.of(symbol);
}

Expr Execution::opaque(const Instruction& instruction, const std::string& name) {
  std::vector<Expr> operands;
  for (auto& operand : instruction.operands())
    if (!isa<BasicBlock>(operand) && !isa<llvm::Function>(operand) && !operand->getType()->isMetadataTy())
      operands.push_back(value(operand));
  std::string role = name;
  for (Expr operand : operands) role += "/" + std::to_string(operand->width);
  auto* made = state.symbols.function(nullptr, role, name, widthOf(instruction.getType(), state.layout));
  made->exact = false;
  const bool isReal =
      instruction.getType()->isFPOrFPVectorTy() ||
      any_of(instruction.operands(), [](const Use& use) { return use->getType()->isFPOrFPVectorTy(); });
  const std::string what = isReal ? "floating-point arithmetic" : "the operation `" + name + "`";
  made->cause = {CauseKind::Approximation, what + " at " + state.lineText(instruction)};
  return exprs.apply(made, std::move(operands));
}

Expr Execution::constantValue(const Constant* constant) {
  unsigned width = widthOf(constant->getType(), state.layout);
  if (auto* number = dyn_cast<ConstantInt>(constant)) {
    if (number->getBitWidth() > 64)
      return fresh(constant, "wide", "a wide constant", {{}, "integers of more than 64 bits"});
    return exprs.constant(width, width == 1 ? number->isOne() : number->getSExtValue());
  }
  if (isa<ConstantPointerNull>(constant)) return exprs.constant(64, 0);
  if (auto* number = dyn_cast<ConstantFP>(constant)) {
    APInt bits = number->getValueAPF().bitcastToAPInt();
    return exprs.constant(width,
                          std::int64_t(bits.extractBitsAsZExtValue(std::min(width, bits.getBitWidth()), 0)));
  }
  if (isa<ConstantAggregateZero>(constant)) return exprs.constant(width, 0);
  if (isa<UndefValue>(constant))
    return fresh(constant, "undefined", "an undefined value", {{}, "an undefined value"});
  if (auto* variable = dyn_cast<GlobalVariable>(constant))
    return state.objects.pointerTo(globalObject(state, *variable));
  if (auto* function = dyn_cast<llvm::Function>(constant)) {
    MemoryObject code;
    code.name = function->getName().str();
    code.space = MemorySpace::Constant;
    code.isCode = true;
    return state.objects.pointerTo(state.objects.object("function " + code.name, code));
  }
  if (auto* expression = dyn_cast<ConstantExpr>(constant)) {
    if (auto* address = dyn_cast<GEPOperator>(expression)) return gep(*address);
    if (expression->isCast()) {
      Expr operand = value(expression->getOperand(0));
      if (operand->width == width) return operand;
      return exprs.extend(operand->width > width ? Op::Trunc : Op::ZExt, width, operand);
    }
    if (Instruction::isBinaryOp(expression->getOpcode()) && expression->getType()->isIntegerTy()) {
      Expr a = value(expression->getOperand(0)), b = value(expression->getOperand(1));
      if (expression->getOpcode() == Instruction::Add) return exprs.add(a, b);
      if (expression->getOpcode() == Instruction::Sub) return exprs.sub(a, b);
    }
  }
  auto* made = state.symbols.function(constant, "constant", "a constant", width);
  return exprs.apply(made, {});
}

Expr Execution::value(const Value* v) {
  auto known = env.find(v);
  if (known != env.end()) return known->second;
  if (auto* constant = dyn_cast<Constant>(v)) return constantValue(constant);
  if (auto* argument = dyn_cast<llvm::Argument>(v)) return state.argumentValue(*argument);
  if (before) {
    auto earlier = before->env.find(v);
    if (earlier != before->env.end()) return earlier->second;
  }
  return fresh(v, "unavailable", "an unfollowed value", {{}, "a value that the model does not follow"});
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

Expr Execution::arithmetic(const BinaryOperator& op) {
  if (!isScalarInteger(op.getType())) return opaque(op, op.getOpcodeName());
  Expr a = value(op.getOperand(0)), b = value(op.getOperand(1));
  std::uint8_t flags = flagsOf(op);
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

/// Whether two pointers are equal, by the places that they may mean. Null when that is not known.
/// Whether a pointer leads to a function, where it comes from memory or from the host: that is not followed,
/// but one pointer leads to one function.
Expr Execution::leadsToCode(Expr pointer, unsigned function) {
  const MemoryObject& code = state.objects[function];
  auto* known = state.symbols.function(nullptr, "leads to " + std::to_string(function),
                                       "whether it is " + code.name, 1);
  known->exact = false;
  known->cause = {CauseKind::Order, "which function a pointer leads to, which is not followed"};
  return exprs.apply(known, {pointer});
}

Expr Execution::samePointer(Expr a, Expr b) {
  if (!state.objects.isPointer(a) || !state.objects.isPointer(b)) return nullptr;
  auto left = state.objects.places(a), right = state.objects.places(b);
  constexpr std::size_t kMostPlaces = 16;
  if (left.size() > kMostPlaces || right.size() > kMostPlaces) return nullptr;
  auto isCode = [&](const Place& place) { return state.objects[place.object].isCode; };
  if (right.size() == 1 && isCode(right[0]) && !std::all_of(left.begin(), left.end(), isCode))
    return leadsToCode(a, right[0].object);
  if (left.size() == 1 && isCode(left[0]) && !std::all_of(right.begin(), right.end(), isCode))
    return leadsToCode(b, left[0].object);
  Expr same = exprs.boolean(false);
  for (const Place& p : left)
    for (const Place& q : right) {
      if (state.objects[p.object].isUnknown || state.objects[q.object].isUnknown) return nullptr;
      if (p.object != q.object) continue;
      Expr both = exprs.logicalAnd(p.guard, q.guard);
      same = exprs.logicalOr(same, exprs.logicalAnd(both, exprs.eq(p.offset, q.offset)));
    }
  return same;
}

/// Pointers into one array compare as their offsets do: no address in it wraps around.
bool Execution::takeOffsets(Expr& a, Expr& b) {
  if (!state.objects.isPointer(a) || !state.objects.isPointer(b)) return false;
  const auto left = state.objects.places(a), right = state.objects.places(b);
  if (left.size() != 1 || right.size() != 1 || left[0].object != right[0].object ||
      state.objects[left[0].object].isUnknown)
    return false;
  a = left[0].offset;
  b = right[0].offset;
  return true;
}

Expr Execution::comparison(const ICmpInst& compare) {
  Type* type = compare.getOperand(0)->getType();
  if (!isScalarInteger(type) && !type->isPointerTy()) return opaque(compare, "compare");
  Expr a = value(compare.getOperand(0)), b = value(compare.getOperand(1));
  if (compare.isEquality())
    if (Expr same = samePointer(a, b))
      return compare.getPredicate() == CmpInst::ICMP_EQ ? same : exprs.logicalNot(same);
  if (compare.isEquality() && !state.drawn.empty())
    if (Expr last = saysIsLast(a, b))
      return compare.getPredicate() == CmpInst::ICMP_EQ ? last : exprs.logicalNot(last);
  if (compare.isEquality() && isConst(b, 0))
    if (Expr first = saysIsLeader(a))
      return compare.getPredicate() == CmpInst::ICMP_EQ ? first : exprs.logicalNot(first);
  CmpInst::Predicate predicate = compare.getPredicate();
  if (type->isPointerTy() && compare.isUnsigned() && takeOffsets(a, b))
    predicate = ICmpInst::getSignedPredicate(predicate);
  switch (predicate) {
  case CmpInst::ICMP_EQ: return exprs.eq(a, b);
  case CmpInst::ICMP_NE: return exprs.logicalNot(exprs.eq(a, b));
  case CmpInst::ICMP_ULT: return exprs.binary(Op::Ult, a, b);
  case CmpInst::ICMP_ULE: return exprs.binary(Op::Ule, a, b);
  case CmpInst::ICMP_UGT: return exprs.binary(Op::Ult, b, a);
  case CmpInst::ICMP_UGE: return exprs.binary(Op::Ule, b, a);
  case CmpInst::ICMP_SLT: return exprs.binary(Op::Slt, a, b);
  case CmpInst::ICMP_SLE: return exprs.binary(Op::Sle, a, b);
  case CmpInst::ICMP_SGT: return exprs.binary(Op::Slt, b, a);
  default: return exprs.binary(Op::Sle, b, a);
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

static AtomicScope scopeOfFence(unsigned reach) {
  return reach == 0 ? AtomicScope::None : reach == 1 ? AtomicScope::Block : AtomicScope::Device;
}

void Execution::record(const Instruction& instruction, AccessKind kind, Expr pointer, Expr size,
                       Expr condition, Expr stored_, AtomicScope scope, bool isVolatile) {
  if (stored_ && stored_->width == 64) state.objects.letEscape(stored_);
  for (const Place& place : state.objects.places(pointer)) {
    if (kind != AccessKind::Read) {
      stored.insert(place.object);
      storedHere.insert(place.object);
    }
    if (kind == AccessKind::Write || isa<StoreInst>(instruction)) noteUpdate(instruction, place.object, {});
    if (!recording) continue;
    ModelAccess access;
    access.site = siteOf(instruction, kind == AccessKind::Read);
    access.where = locationOf(instruction);
    const SiteId told = access.site == kNoSite ? wholeOf(instruction) : access.site;
    if (told < state.facts.sites.size() && state.facts.sites[told].where.known())
      access.where = state.facts.sites[told].where;
    access.kind = kind;
    access.scope = scope;
    access.isVolatile = isVolatile;
    access.isLoad = isa<LoadInst>(instruction);
    access.isPolled = state.polled.count(&instruction) != 0;
    access.fenceBefore = scopeOfFence(state.fences.before(instruction));
    access.fenceAfter = scopeOfFence(state.fences.after(instruction));
    access.inLibrary =
        instruction.getMetadata(kLibraryMetadata) != nullptr ||
        (access.site < state.facts.sites.size() && state.facts.sites[access.site].inSystemHeader);
    access.object = place.object;
    access.offset = afterVoting(place.offset, condition);
    access.size = size;
    access.condition = exprs.logicalAnd(exprs.logicalAnd(condition, place.guard), waited(instruction));
    if (!state.drawnWithin.empty())
      anyNode(place.offset, [&](Expr n) {
        auto within = state.drawnWithin.find(n);
        if (within != state.drawnWithin.end())
          access.condition = exprs.logicalAnd(access.condition, within->second);
        return false;
      });
    access.stored = stored_;
    if (state.knowsWritten) access.locks = locksAt(instruction);
    if (access.locks.size() < state.sections.countAt(instruction))
      access.condition = exprs.logicalAnd(access.condition, underLock(instruction));
    access.arrivals = arrivalsAt(instruction, access.condition);
    if (isFalse(access.condition)) continue;
    access.condition = state.withDefinitions(access.condition, {access.offset, access.size});
    nameLocals(instruction, access);
    if (!isFalse(access.condition)) accesses.push_back({&instruction, std::move(access)});
  }
}

void Execution::runInstruction(const Instruction& instruction, Expr& condition) {
  const Type* type = instruction.getType();
  auto bytes = [&](Type* accessed) {
    return exprs.constant(64, std::int64_t(state.layout.getTypeStoreSize(accessed).getFixedValue()));
  };
  bool isCopyPart = siteOf(instruction) == kNoSite && instruction.getDebugLoc() &&
                    state.prepared.copies.count(instruction.getDebugLoc()) != 0;
  if (auto* read = dyn_cast<LoadInst>(&instruction)) {
    Expr pointer = value(read->getPointerOperand());
    bool ordered = read->isAtomic();
    if (!isCopyPart)
      record(instruction, ordered ? AccessKind::Atomic : AccessKind::Read, pointer, bytes(read->getType()),
             condition, nullptr, ordered ? scopeOf(read->getSyncScopeID()) : AtomicScope::None,
             read->isVolatile());
    if (isRelevant(read)) env[read] = load(instruction, pointer, read->isVolatile() || ordered);
    return;
  }
  if (auto* write = dyn_cast<StoreInst>(&instruction)) {
    const Value* v = write->getValueOperand();
    bool known = isa<Constant>(v) || isa<llvm::Argument>(v) || isRelevant(v);
    bool ordered = write->isAtomic();
    Expr pointer = value(write->getPointerOperand());
    if (isCopyPart) {
      bool wasRecording = recording;
      recording = false;
      record(instruction, AccessKind::Write, pointer, nullptr, condition);
      recording = wasRecording;
      return;
    }
    if (known && state.broadcasts.isSource(instruction)) handed[&instruction] = value(v);
    record(instruction, ordered ? AccessKind::Atomic : AccessKind::Write, pointer, bytes(v->getType()),
           condition, known ? value(v) : nullptr,
           ordered ? scopeOf(write->getSyncScopeID()) : AtomicScope::None, write->isVolatile());
    return;
  }
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    Expr operand = value(update->getValOperand());
    Update what;
    if (update->getOperation() == AtomicRMWInst::Add) what = additionOf(operand, condition);
    if (update->getOperation() == AtomicRMWInst::Sub)
      what = isConst(operand) ? additionOf(exprs.sub(exprs.constant(operand->width, 0), operand), condition)
                              : Update{};
    if (update->getOperation() == AtomicRMWInst::Or) what = {Update::Kind::Mark};
    if (update->getOperation() == AtomicRMWInst::And) what = {Update::Kind::Clear};
    if (update->getOperation() == AtomicRMWInst::UIncWrap) what = roundOf(operand, false);
    if (update->getOperation() == AtomicRMWInst::UDecWrap) what = roundOf(operand, true);
    if (update->getOperation() == AtomicRMWInst::Xchg && isConst(operand))
      what = {Update::Kind::Exchange, operand->value};
    state.objects.letEscape(value(update->getValOperand()));
    runAtomic(instruction, value(update->getPointerOperand()), widthOf(type, state.layout) / 8,
              scopeOf(update->getSyncScopeID()), what, condition, operand);
    return;
  }
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    unsigned size = widthOf(exchange->getCompareOperand()->getType(), state.layout) / 8;
    state.objects.letEscape(value(exchange->getNewValOperand()));
    runAtomic(instruction, value(exchange->getPointerOperand()), size, scopeOf(exchange->getSyncScopeID()),
              claimOf(value(exchange->getCompareOperand()), value(exchange->getNewValOperand()), condition),
              condition);
    return;
  }
  if (auto* call = dyn_cast<CallInst>(&instruction)) return runCall(*call, condition);
  if (!isRelevant(&instruction)) return;
  Expr result = nullptr;
  if (auto* op = dyn_cast<BinaryOperator>(&instruction))
    result = arithmetic(*op);
  else if (auto* compare = dyn_cast<ICmpInst>(&instruction))
    result = comparison(*compare);
  else if (auto* conversion = dyn_cast<CastInst>(&instruction))
    result = cast(*conversion);
  else if (auto* address = dyn_cast<GEPOperator>(&instruction))
    result = gep(*address);
  else if (auto* extract = dyn_cast<ExtractValueInst>(&instruction))
    result = aggregate(*extract);
  else if (isa<FreezeInst>(instruction))
    result = value(instruction.getOperand(0));
  else if (auto* choice = dyn_cast<SelectInst>(&instruction);
           choice && isScalarInteger(choice->getCondition()->getType()))
    result = exprs.ite(value(choice->getCondition()), value(choice->getTrueValue()),
                       value(choice->getFalseValue()));
  else if (auto* local = dyn_cast<AllocaInst>(&instruction)) {
    MemoryObject object;
    object.name = local->hasName() ? local->getName().str() : "local array";
    object.space = MemorySpace::Local;
    object.elementBytes = elementBytesOf(local->getAllocatedType(), state.layout);
    if (auto size = local->getAllocationSize(state.layout)) object.bytes = size->getFixedValue();
    object.where = locationOf(instruction);
    std::string key = "local " + std::to_string(reinterpret_cast<std::uintptr_t>(local));
    result = state.objects.pointerTo(state.objects.object(key, object));
  } else if (isa<InsertValueInst>(instruction))
    return; // aggregate() looks through it
  else
    result = opaque(instruction, instruction.getOpcodeName());
  env[&instruction] = result;
}

} // namespace kcheck::analyzer
