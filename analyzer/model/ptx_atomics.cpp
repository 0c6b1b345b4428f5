#include "analyzer/model/ptx_atomics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

#include <optional>
#include <vector>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// `atom.add.relaxed.gpu.u32 $0,[$1],$2;`, the operands as arguments of the call.
struct PtxAtomic {
  std::optional<AtomicRMWInst::BinOp> update; ///< else compare and swap
  bool inBlock = false;
  AtomicOrdering order = AtomicOrdering::Monotonic;
  Value* pointer = nullptr;
  std::vector<Value*> operands;
};

std::optional<AtomicRMWInst::BinOp> updateOf(StringRef name, char type) {
  using Op = AtomicRMWInst::BinOp;
  const bool isReal = type == 'f', isSigned = type == 's';
  const auto found = StringSwitch<std::optional<Op>>(name)
                         .Case("add", isReal ? Op::FAdd : Op::Add)
                         .Case("min", isSigned ? Op::Min : Op::UMin)
                         .Case("max", isSigned ? Op::Max : Op::UMax)
                         .Case("and", Op::And)
                         .Case("or", Op::Or)
                         .Case("xor", Op::Xor)
                         .Case("exch", Op::Xchg)
                         .Case("inc", Op::UIncWrap)
                         .Case("dec", Op::UDecWrap)
                         .Default({});
  return isReal && found != Op::FAdd && found != Op::Xchg ? std::nullopt : found;
}

/// The argument that an operand (`$2`) names.
Value* argumentOf(const CallInst& call, StringRef operand, unsigned outputs) {
  unsigned number = 0;
  operand = operand.trim();
  if (!operand.consume_front("$") || operand.getAsInteger(10, number) || number < outputs) return nullptr;
  return number - outputs < call.arg_size() ? call.getArgOperand(number - outputs) : nullptr;
}

std::optional<PtxAtomic> read(const CallInst& call) {
  const auto* assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
  if (!assembly) return {};
  StringRef text = StringRef(assembly->getAsmString()).trim();
  text.consume_front("{"), text.consume_back("}");
  text = text.trim(), text.consume_back(";");
  if (text.contains(';') || (!text.starts_with("atom.") && !text.starts_with("red."))) return {};
  const std::size_t blank = text.find_first_of(" \t");
  if (blank == StringRef::npos) return {};
  const StringRef opcode = text.take_front(blank), rest = text.drop_front(blank);
  SmallVector<StringRef> parts, places;
  opcode.split(parts, '.');
  rest.split(places, ',');
  auto has = [&](StringRef part) { return is_contained(parts, part); };
  if (has("noftz") || parts.back().size() < 2) return {};
  const bool given = opcode.starts_with("atom"), swaps = has("cas");
  if (places.size() != 2u + given + swaps) return {};
  unsigned outputs = 0;
  for (auto& constraint : assembly->ParseConstraints()) outputs += constraint.Type == InlineAsm::isOutput;
  if (outputs != unsigned(given) || (given && places[0].trim() != "$0")) return {};

  PtxAtomic result;
  result.inBlock = has("cta");
  result.order = has("acq_rel")   ? AtomicOrdering::AcquireRelease
                 : has("acquire") ? AtomicOrdering::Acquire
                 : has("release") ? AtomicOrdering::Release
                                  : AtomicOrdering::Monotonic;
  for (StringRef part : parts)
    if (!result.update) result.update = updateOf(part, parts.back()[0]);
  if (bool(result.update) == swaps) return {};
  StringRef address = places[given].trim();
  if (!address.consume_front("[") || !address.consume_back("]")) return {};
  result.pointer = argumentOf(call, address, outputs);
  for (StringRef operand : drop_begin(places, 1 + given))
    result.operands.push_back(argumentOf(call, operand, outputs));
  if (!result.pointer || is_contained(result.operands, nullptr)) return {};
  Type* type = result.operands.front()->getType();
  const bool isAddress =
      result.pointer->getType()->isPointerTy() || result.pointer->getType()->isIntegerTy(64);
  unsigned bits = 0;
  if (!isAddress || parts.back().drop_front().getAsInteger(10, bits) ||
      type->getPrimitiveSizeInBits() != bits ||
      any_of(result.operands, [&](Value* one) { return one->getType() != type; }) ||
      (given && call.getType() != type))
    return {};
  const bool isReal = result.update == AtomicRMWInst::FAdd;
  return isReal == type->isFloatingPointTy() ? std::optional(result) : std::nullopt;
}

void replace(CallInst& call, const PtxAtomic& atomic) {
  IRBuilder<> builder(&call);
  const SyncScope::ID scope =
      atomic.inBlock ? call.getContext().getOrInsertSyncScopeID("block") : SyncScope::System;
  Value* pointer = atomic.pointer;
  if (!pointer->getType()->isPointerTy()) pointer = builder.CreateIntToPtr(pointer, builder.getPtrTy());
  Instruction* made = nullptr;
  Value* found = nullptr;
  if (atomic.update) {
    made = builder.CreateAtomicRMW(*atomic.update, pointer, atomic.operands[0], MaybeAlign(), atomic.order,
                                   scope);
    found = made;
  } else {
    made = builder.CreateAtomicCmpXchg(pointer, atomic.operands[0], atomic.operands[1], MaybeAlign(),
                                       atomic.order,
                                       AtomicCmpXchgInst::getStrongestFailureOrdering(atomic.order), scope);
    found = builder.CreateExtractValue(made, 0);
  }
  made->copyMetadata(call);
  if (atomic.order != AtomicOrdering::Monotonic)
    made->setMetadata(kOrdersByPtx, MDNode::get(call.getContext(), {}));
  if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(found);
  call.eraseFromParent();
}

} // namespace

void readPtxAtomics(Function& kernel) {
  for (Instruction& instruction : make_early_inc_range(instructions(kernel)))
    if (auto* call = dyn_cast<CallInst>(&instruction))
      if (auto atomic = read(*call)) replace(*call, *atomic);
}

} // namespace kcheck::analyzer
