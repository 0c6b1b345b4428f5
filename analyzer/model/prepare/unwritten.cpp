// See unwritten.h. A mark is a call without effect whose result is stored where the local begins.
#include "analyzer/model/prepare/unwritten.h"
#include "analyzer/model/prepare/prepare.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr const char* kMark = "kcheck.unwritten"; ///< name of the calls, and their metadata: the variable
constexpr unsigned kMostLeaves = 256;

/// Numbers and pointers in a type; of a large one only that they are more than `kMostLeaves`.
unsigned leavesOf(const Type* type) {
  if (auto* vector = dyn_cast<FixedVectorType>(type)) return vector->getNumElements();
  if (auto* array = dyn_cast<ArrayType>(type)) {
    const unsigned each = leavesOf(array->getElementType());
    return array->getNumElements() > kMostLeaves ? kMostLeaves + 1 : each * unsigned(array->getNumElements());
  }
  unsigned leaves = type->isAggregateType() ? 0 : 1;
  if (auto* record = dyn_cast<StructType>(type))
    for (const Type* member : record->elements()) leaves = std::min(leaves + leavesOf(member), 4096u);
  return leaves;
}

std::string variableOf(AllocaInst& local) {
  for (const DbgVariableRecord* record : findDVRDeclares(&local))
    return record->getVariable()->getName().str();
  for (const DbgDeclareInst* declare : findDbgDeclares(&local))
    return declare->getVariable()->getName().str();
  return "";
}

std::string quoted(const std::string& variable) {
  return variable.empty() ? "a local variable" : "`" + variable + "`";
}

/// Follows the bits of one mark: a number put together from parts is written once all parts are.
class Spread {
public:
  explicit Spread(CallInst& mark) { add(mark, APInt::getAllOnes(widthOf(mark))); }

  /// The first found use that is more than a copy; null: there is none.
  const Instruction* firstRead() {
    while (!work.empty()) {
      const Value* value = work.pop_back_val();
      for (const Use& use : value->uses())
        if (auto* user = dyn_cast<Instruction>(use.getUser()); user && !pass(*user, use, unwritten[value]))
          return user;
    }
    return nullptr;
  }

private:
  /// Bits of a number; of a struct, an array or a vector one for each leaf.
  static unsigned widthOf(const Value& value) {
    const Type* type = value.getType();
    if (type->isPointerTy()) return 64;
    if (hasLeaves(value)) return std::max(1u, leavesOf(type));
    return type->isSingleValueType() && !type->isVectorTy()
               ? std::max(1u, unsigned(type->getPrimitiveSizeInBits().getFixedValue()))
               : 1;
  }

  static bool hasLeaves(const Value& value) {
    return value.getType()->isAggregateType() || isa<FixedVectorType>(value.getType());
  }

  void add(const Value& value, APInt bits) {
    auto [place, isNew] = unwritten.try_emplace(&value, bits.getBitWidth(), 0);
    bits |= place->second;
    if (!isNew && bits == place->second) return;
    place->second = bits;
    if (!bits.isZero()) work.insert(&value);
  }

  static APInt anyOf(const Value& value, const APInt& bits) {
    return bits.isZero() ? APInt::getZero(widthOf(value)) : APInt::getAllOnes(widthOf(value));
  }

  /// The leaves that indices into a struct or an array name.
  struct Leaves {
    unsigned first = 0, count = 0;
  };
  static Leaves leavesAt(const Type* type, ArrayRef<unsigned> indices) {
    Leaves leaves;
    for (unsigned index : indices) {
      auto* record = dyn_cast<StructType>(type);
      for (unsigned before = 0; record && before < index; ++before)
        leaves.first += leavesOf(record->getElementType(before));
      type = record ? record->getElementType(index) : type->getArrayElementType();
      if (!record) leaves.first += index * leavesOf(type);
    }
    leaves.count = leavesOf(type);
    return leaves;
  }

  void addPart(const ExtractValueInst& part, const APInt& bits) {
    const auto [first, count] = leavesAt(part.getAggregateOperand()->getType(), part.getIndices());
    if (count == 0) return;
    const APInt leaves = bits.extractBits(count, first);
    add(part, hasLeaves(part) ? leaves : anyOf(part, leaves));
  }

  void addPut(const InsertValueInst& whole, bool isPart, APInt bits) {
    const auto [first, count] = leavesAt(whole.getType(), whole.getIndices());
    if (!isPart)
      bits &= ~APInt::getBitsSet(bits.getBitWidth(), first, first + count);
    else if (count == 0)
      return;
    else if (hasLeaves(*whole.getInsertedValueOperand()))
      bits = bits.zext(widthOf(whole)).shl(first);
    else
      bits = APInt(widthOf(whole), bits.isZero() ? 0 : 1).shl(first);
    add(whole, bits);
  }

  /// The same bits read as another type: a leaf of a vector has all of its bits or none.
  static APInt asType(const Instruction& user, const APInt& bits) {
    const Type *from = user.getOperand(0)->getType(), *to = user.getType();
    const unsigned width = unsigned(to->getPrimitiveSizeInBits().getFixedValue());
    if (bits.isZero() || width == 0) return anyOf(user, bits);
    const APInt single = from->isVectorTy() ? APIntOps::ScaleBitMask(bits, width) : bits;
    return to->isVectorTy() ? APIntOps::ScaleBitMask(single, widthOf(user)) : single;
  }

  /// One element of a vector put in or taken out, or several put together.
  void addElements(const Instruction& user, const Use& use, const APInt& bits) {
    const bool isTaken = isa<ExtractElementInst>(user);
    if (auto* shuffle = dyn_cast<ShuffleVectorInst>(&user)) {
      APInt result = APInt::getZero(widthOf(user));
      const int count = int(bits.getBitWidth()), start = use.getOperandNo() == 0 ? 0 : count;
      for (const auto& [lane, source] : enumerate(shuffle->getShuffleMask()))
        if (source >= start && source < start + count && bits[unsigned(source - start)])
          result.setBit(unsigned(lane));
      return add(user, result);
    }
    auto* index = dyn_cast<ConstantInt>(user.getOperand(isTaken ? 1 : 2));
    const unsigned count = leavesOf(user.getOperand(0)->getType());
    if (!index || index->getValue().uge(count)) return add(user, anyOf(user, bits));
    const APInt lane = APInt::getOneBitSet(count, unsigned(index->getZExtValue()));
    if (isTaken) return add(user, anyOf(user, bits & lane));
    add(user, use.getOperandNo() == 0 ? bits & ~lane
              : bits.isZero()         ? APInt::getZero(lane.getBitWidth())
                                      : lane);
  }

  /// Whether the use only hands bits on.
  bool pass(const Instruction& user, const Use& use, const APInt& bits) {
    if (leavesOf(use->getType()) > kMostLeaves || leavesOf(user.getType()) > kMostLeaves)
      return bits.isZero();
    const bool isVector = use->getType()->isVectorTy();
    const ConstantInt* constant = nullptr;
    if (user.getNumOperands() == 2) constant = dyn_cast<ConstantInt>(user.getOperand(1 - use.getOperandNo()));
    switch (user.getOpcode()) {
    case Instruction::Store:
      return use.getOperandNo() == 0 && isa<AllocaInst>(getUnderlyingObject(user.getOperand(1)));
    case Instruction::PHI: add(user, bits); return true;
    case Instruction::BitCast: add(user, asType(user, bits)); return true;
    case Instruction::And: add(user, constant ? bits & constant->getValue() : bits); return true;
    case Instruction::Or: add(user, constant ? bits & ~constant->getValue() : bits); return true;
    case Instruction::ZExt: add(user, isVector ? bits : bits.zext(widthOf(user))); return true;
    case Instruction::Trunc: add(user, isVector ? bits : bits.trunc(widthOf(user))); return true;
    case Instruction::PtrToInt:
    case Instruction::IntToPtr: add(user, bits.zextOrTrunc(widthOf(user))); return true;
    case Instruction::Shl:
    case Instruction::LShr:
      if (!constant || isVector || use.getOperandNo() != 0) return bits.isZero();
      add(user, user.getOpcode() == Instruction::Shl ? bits.shl(constant->getValue())
                                                     : bits.lshr(constant->getValue()));
      return true;
    case Instruction::ExtractValue: addPart(cast<ExtractValueInst>(user), bits); return true;
    case Instruction::InsertValue:
      addPut(cast<InsertValueInst>(user), use.getOperandNo() == 1, bits);
      return true;
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
    case Instruction::ShuffleVector: addElements(user, use, bits); return true;
    default: return bits.isZero();
    }
  }

  DenseMap<const Value*, APInt> unwritten;
  SetVector<const Value*> work;
};

/// What promotion would have made of an undefined value: what is put together from it alone goes.
void replaceByUndefined(CallInst& mark) {
  SetVector<Instruction*> work;
  auto noteUsers = [&](Value& value) {
    for (User* user : value.users())
      if (isa<PHINode, BinaryOperator, CastInst, ExtractValueInst>(user))
        work.insert(cast<Instruction>(user));
  };
  noteUsers(mark);
  const DataLayout& layout = mark.getFunction()->getDataLayout();
  mark.replaceAllUsesWith(UndefValue::get(mark.getType()));
  llvm::Function* callee = mark.getCalledFunction();
  mark.eraseFromParent();
  callee->eraseFromParent();
  while (!work.empty()) {
    Instruction* user = work.pop_back_val();
    Value* simpler = simplifyInstruction(user, SimplifyQuery(layout));
    if (!simpler || simpler == user) continue;
    noteUsers(*user);
    work.remove(user);
    user->replaceAllUsesWith(simpler);
    user->eraseFromParent();
  }
}

/// The marks in an array that stays one.
bool isInitialStore(const Instruction& instruction) {
  auto* store = dyn_cast<StoreInst>(&instruction);
  if (!store || !isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()))) return false;
  const Value* stored = store->getValueOperand();
  while (auto* part = dyn_cast<ExtractValueInst>(stored)) stored = part->getAggregateOperand();
  auto* call = dyn_cast<CallInst>(stored);
  return call && call->getMetadata(kMark);
}

std::vector<CallInst*> marksOf(llvm::Function& kernel) {
  std::vector<CallInst*> marks;
  for (Instruction& instruction : instructions(kernel))
    if (auto* call = dyn_cast<CallInst>(&instruction); call && call->getMetadata(kMark))
      marks.push_back(call);
  return marks;
}

} // namespace

void markLocals(llvm::Function& kernel, std::optional<UnwrittenDoubt>& doubt) {
  std::vector<AllocaInst*> locals;
  for (Instruction& instruction : instructions(kernel))
    if (auto* local = dyn_cast<AllocaInst>(&instruction)) locals.push_back(local);
  LLVMContext& context = kernel.getContext();
  for (AllocaInst* local : locals) {
    Type* type = local->getAllocatedType();
    const std::string variable = variableOf(*local);
    if (local->isArrayAllocation() || leavesOf(type) > kMostLeaves) {
      if (!doubt) doubt = {locationOf(*local), quoted(variable) + " is too large to be followed"};
      continue;
    }
    IRBuilder<> builder(local->getNextNode());
    CallInst* mark = builder.CreateCall(llvm::Function::Create(
        FunctionType::get(type, false), GlobalValue::ExternalLinkage, kMark, kernel.getParent()));
    mark->setDoesNotAccessMemory();
    mark->setDoesNotThrow();
    mark->setMetadata(kMark, MDNode::get(context, MDString::get(context, variable)));
    builder.CreateStore(mark, local);
  }
}

void takeMarks(llvm::Function& kernel, std::optional<UnwrittenDoubt>& doubt) {
  for (CallInst* mark : marksOf(kernel)) {
    if (doubt) break;
    const Instruction* read = Spread(*mark).firstRead();
    if (!read) continue;
    const MDString* variable = cast<MDString>(mark->getMetadata(kMark)->getOperand(0));
    doubt = {locationOf(*read), quoted(variable->getString().str()) + " may be read before it is written"};
  }
  std::vector<Instruction*> stores;
  for (Instruction& instruction : instructions(kernel))
    if (isInitialStore(instruction)) stores.push_back(&instruction);
  for (Instruction* store : stores) store->eraseFromParent();
  for (CallInst* mark : marksOf(kernel)) replaceByUndefined(*mark);
}

} // namespace kcheck::analyzer
