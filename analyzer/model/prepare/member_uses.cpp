#include "analyzer/model/prepare/member_uses.h"

#include "analyzer/model/prepare/prepare.h"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::size_t kMostPieces = 1024;

/// What the operand is an index of.
Type* arrayOf(GetElementPtrInst& gep, unsigned operand) {
  SmallVector<Value*> before(gep.idx_begin(), gep.idx_begin() + (operand - 1));
  return GetElementPtrInst::getIndexedType(gep.getSourceElementType(), before);
}

/// What it is declared as; of a parameter, what its uses take it for.
Type* typeOf(Value& whole) {
  if (auto* local = dyn_cast<AllocaInst>(&whole))
    return local->isArrayAllocation() ? nullptr : local->getAllocatedType();
  if (auto* variable = dyn_cast<GlobalVariable>(&whole)) return variable->getValueType();
  for (User* user : whole.users())
    if (auto* gep = dyn_cast<GetElementPtrInst>(user); gep && gep->getSourceElementType()->isStructTy())
      return gep->getSourceElementType();
  return nullptr;
}

const DataLayout& layoutOf(const Value& whole) {
  if (auto* parameter = dyn_cast<llvm::Argument>(&whole)) return parameter->getParent()->getDataLayout();
  if (auto* variable = dyn_cast<GlobalVariable>(&whole)) return variable->getParent()->getDataLayout();
  return cast<Instruction>(whole).getDataLayout();
}

} // namespace

MemberUses::MemberUses(Value& whole) : whole(whole), data(layoutOf(whole)) {
  Type* each = typeOf(whole);
  if (auto* array = dyn_cast_or_null<ArrayType>(each)) {
    rows = std::int64_t(array->getNumElements());
    each = array->getElementType();
  } else if (isa<llvm::Argument>(whole)) {
    rows = 0;
  }
  record = dyn_cast_or_null<StructType>(each);
}

bool MemberUses::find() {
  if (!record || !record->isSized() || count() == 0 || (rows == 0 && !isa<llvm::Argument>(whole)))
    return false;
  if (count() == 1 && !isa<StructType>(record->getElementType(0))) return false;
  layout = data.getStructLayout(record);
  rowBytes = std::int64_t(data.getTypeAllocSize(record).getFixedValue());
  return rowBytes > 0 && follow(whole, {});
}

/// Its rows are told apart.
bool MemberUses::isLocal() const { return isa<AllocaInst>(whole); }

std::int64_t MemberUses::startOf(unsigned member) const {
  return std::int64_t(layout->getElementOffset(member).getFixedValue());
}

std::int64_t MemberUses::endOf(unsigned member) const {
  return startOf(member) +
         std::int64_t(data.getTypeAllocSize(record->getElementType(member)).getFixedValue());
}

bool MemberUses::isRow(const MemberPlace& place) const {
  return place.row || (place.offset >= 0 && (rows == 0 || place.offset < rows * rowBytes));
}

/// The member in which all these bytes lie.
std::optional<unsigned> MemberUses::memberAt(const MemberPlace& place, std::int64_t bytes) const {
  if (!isRow(place)) return {};
  const std::int64_t offset = place.row ? place.offset : place.offset % rowBytes;
  if (offset < 0 || bytes <= 0 || offset + bytes > rowBytes) return {};
  const unsigned member = layout->getElementContainingOffset(std::uint64_t(offset));
  return offset + bytes <= endOf(member) ? std::optional(member) : std::nullopt;
}

std::optional<std::vector<MemberUses::Piece>> MemberUses::piecesOf(MemberPlace place,
                                                                   std::int64_t bytes) const {
  std::vector<Piece> pieces;
  for (std::int64_t before = 0; before < bytes;) {
    if (!isRow(place) || pieces.size() > kMostPieces) return {};
    const std::int64_t offset = place.row ? place.offset : place.offset % rowBytes;
    if (offset < 0 || offset >= rowBytes) return {};
    const unsigned member = layout->getElementContainingOffset(std::uint64_t(offset));
    // Padding goes with what is before it.
    const std::int64_t next = member + 1 == count() ? rowBytes : startOf(member + 1);
    const std::int64_t step = std::min(bytes - before, next - offset);
    const std::int64_t inMember = std::min(step, endOf(member) - offset);
    if (inMember > 0) pieces.push_back({member, place, inMember, before});
    before += step;
    place.offset += step;
  }
  return pieces.empty() ? std::nullopt : std::optional(std::move(pieces));
}

/// Looks at all uses of an address in the object.
bool MemberUses::follow(Value& address, const MemberPlace& place) {
  return all_of(address.uses(), [&](Use& use) {
    auto* user = dyn_cast<Instruction>(use.getUser());
    if (!user) return false;
    if (auto* gep = dyn_cast<GetElementPtrInst>(user)) return followIndices(*gep, place);
    if (auto* copy = dyn_cast<MemIntrinsic>(user)) return takeCopy(*copy, use.getOperandNo(), place);
    if (user->isLifetimeStartOrEnd()) return lifetimes.insert(user), true;
    if (!isa<AddrSpaceCastInst>(user)) return takeAccess(*user, use, place);
    pointers.push_back(user);
    return follow(*user, place);
  });
}

bool MemberUses::followIndices(GetElementPtrInst& gep, MemberPlace place) {
  unsigned operand = 1;
  for (auto step = gep_type_begin(gep), end = gep_type_end(gep); step != end; ++step, ++operand) {
    auto* constant = dyn_cast<ConstantInt>(step.getOperand());
    if (StructType* type = step.getStructTypeOrNull()) {
      const auto number = unsigned(constant->getZExtValue());
      place.offset += std::int64_t(data.getStructLayout(type)->getElementOffset(number).getFixedValue());
      continue;
    }
    const bool isRowOfWhole = step.getIndexedType() == record && rows != 1;
    if (operand > 1 && !isRowOfWhole) {
      Type* array = arrayOf(gep, operand);
      const auto member = memberAt(place, std::int64_t(data.getTypeAllocSize(array).getFixedValue()));
      return member && takeSubscript({&gep, operand, array, place, *member});
    }
    if (constant)
      place.offset +=
          constant->getSExtValue() * std::int64_t(step.getSequentialElementStride(data).getFixedValue());
    else if (isRowOfWhole && (!isLocal() || (!place.row && place.offset == 0)))
      place.row = step.getOperand();
    else
      return false;
  }
  pointers.push_back(&gep);
  return follow(gep, place);
}

bool MemberUses::takeSubscript(const Subscript& subscript) {
  const auto bytesOf = [&](Type* type) { return std::int64_t(data.getTypeAllocSize(type).getFixedValue()); };
  GetElementPtrInst& gep = *subscript.user;
  const std::int64_t start = subscript.place.row ? subscript.place.offset : subscript.place.offset % rowBytes;
  Element element{start, bytesOf(gep.getResultElementType()), bytesOf(subscript.array), start};
  SmallVector<Value*> indices{ConstantInt::get(Type::getInt64Ty(gep.getContext()), 0)};
  indices.append(gep.idx_begin() + (subscript.firstIndex - 1), gep.idx_end());
  if (all_of(indices, [](const Value* index) { return isa<ConstantInt>(index); }))
    *element.offset += data.getIndexedOffsetInType(subscript.array, indices);
  else
    element.offset.reset();
  subscripts.push_back(subscript);
  return staysInArray(gep, element);
}

/// Whether so many bytes from an element on are the array's; of an open one, as far as they fit into it at
/// all.
bool MemberUses::isWithin(const Element& element, std::int64_t bytes) const {
  if (element.offset)
    return *element.offset >= element.start && *element.offset + bytes <= element.start + element.array;
  return bytes <= element.bytes || (bytes > 0 && element.array % bytes == 0);
}

/// Looks at what is done with an element, and with those that it leads to.
bool MemberUses::staysInArray(Value& address, const Element& element) {
  if (!met.insert({&address, element.start}).second) return true;
  return all_of(address.uses(), [&](Use& use) {
    auto* user = cast<Instruction>(use.getUser());
    if (auto* gep = dyn_cast<GetElementPtrInst>(user)) {
      Element next = element;
      APInt distance(64, 0);
      const bool isKnown = element.offset && gep->accumulateConstantOffset(data, distance);
      next.bytes = std::int64_t(data.getTypeAllocSize(gep->getResultElementType()).getFixedValue());
      if (isKnown)
        *next.offset += distance.getSExtValue();
      else
        next.offset.reset();
      return staysInArray(*gep, next);
    }
    if (isa<AddrSpaceCastInst>(user)) return staysInArray(*user, element);
    if (isa<PHINode, SelectInst>(user)) {
      Element any = element;
      any.offset.reset();
      return isLocal() && staysInArray(*user, any);
    }
    if (isa<ICmpInst>(user)) return isLocal(); // with what leads to other members, perhaps
    if (user->isLifetimeStartOrEnd()) return true;
    const auto bytes = bytesTaken(*user, use.getOperandNo());
    if (bytes && !element.offset) opens.push_back({user, use.getOperandNo(), *bytes, subscripts.size() - 1});
    return bytes && isWithin(element, *bytes);
  });
}

/// How many bytes an instruction reads or writes at its operand; nothing where that is no address of it.
std::optional<std::int64_t> MemberUses::bytesTaken(const Instruction& user, unsigned operand) const {
  const auto bytesOf = [&](Type* type) { return std::int64_t(data.getTypeStoreSize(type).getFixedValue()); };
  if (isa<LoadInst>(user)) return bytesOf(user.getType());
  if (isa<StoreInst>(user) && operand == 1) return bytesOf(user.getOperand(0)->getType());
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(user) && operand == 0)
    return bytesOf(user.getOperand(1)->getType());
  auto* call = dyn_cast<CallInst>(&user);
  if (!call) return {};
  if (auto* copy = dyn_cast<MemIntrinsic>(call); copy && operand <= 1 && !copy->isVolatile())
    if (auto* length = dyn_cast<ConstantInt>(copy->getLength())) return std::int64_t(length->getZExtValue());
  const llvm::Function* called = call->getCalledFunction();
  if (!called || operand != 0 || isLocal()) return {};
  if (called->getName() == kAccessMarker)
    if (auto* bytes = dyn_cast<ConstantInt>(call->getArgOperand(1))) return bytes->getSExtValue();
  return called->getName().starts_with("llvm.nvvm.atomic.") ? std::optional(bytesOf(call->getType()))
                                                            : std::nullopt;
}

bool MemberUses::takeAccess(Instruction& user, const Use& use, const MemberPlace& place) {
  const unsigned operand = use.getOperandNo();
  auto* store = dyn_cast<StoreInst>(&user);
  if (store && operand == 1 && isLocal() && !place.row && place.offset == 0 &&
      store->getValueOperand()->getType() == cast<AllocaInst>(whole).getAllocatedType()) {
    stores.push_back(store);
    return rows * count() <= std::int64_t(kMostPieces);
  }
  const auto bytes = bytesTaken(user, operand);
  if (!bytes) return false;
  if (const auto member = memberAt(place, *bytes)) {
    accesses.push_back({&user, operand, place, *member});
    return true;
  }
  Type* type = isa<LoadInst, StoreInst>(user) ? getLoadStoreType(&user) : nullptr;
  const bool isBits = type && (type->isIntOrIntVectorTy() || type->isFPOrFPVectorTy()) &&
                      data.getTypeSizeInBits(type) == std::uint64_t(*bytes) * 8;
  if (isLocal() && !isBits) return false;
  wides.push_back({&user, operand, place, *bytes});
  return piecesOf(place, *bytes).has_value();
}

bool MemberUses::takeCopy(MemIntrinsic& user, unsigned operand, const MemberPlace& place) {
  auto* length = dyn_cast<ConstantInt>(user.getLength());
  const bool isTaken = any_of(copies, [&](const Copy& other) { return other.user == &user; });
  if (operand > 1 || user.isVolatile() || !length || isTaken) return false;
  copies.push_back({&user, operand, place, std::int64_t(length->getZExtValue())});
  return piecesOf(place, copies.back().bytes).has_value();
}

} // namespace kcheck::analyzer
