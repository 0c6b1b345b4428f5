// LLVM's promotion gives an object up as soon as one of its arrays has a subscript that is not a constant.
#include "analyzer/model/prepare/members.h"

#include "analyzer/model/prepare/member_uses.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// A type without its other names.
const DIType* plainType(const DIType* type) {
  while (const auto* derived = dyn_cast_or_null<DIDerivedType>(type)) type = derived->getBaseType();
  return type;
}

/// What the source calls the member that begins there; nothing where it has no name.
std::string memberName(const DILocalVariable& variable, std::uint64_t bits) {
  const auto* record = dyn_cast_or_null<DICompositeType>(plainType(variable.getType()));
  if (record && record->getTag() == dwarf::DW_TAG_array_type)
    record = dyn_cast_or_null<DICompositeType>(plainType(record->getBaseType()));
  if (!record) return "";
  for (const DINode* node : record->getElements())
    if (const auto* member = dyn_cast<DIDerivedType>(node);
        member && member->getTag() == dwarf::DW_TAG_member && !member->isStaticMember() &&
        member->getOffsetInBits() == bits && !member->getName().empty())
      return "." + member->getName().str();
  return "";
}

/// In place of one object.
class MemberVariables {
public:
  explicit MemberVariables(const MemberUses& uses) : uses(uses), whole(cast<AllocaInst>(uses.whole)) {
    make();
    for (const MemberUses::Access& access : uses.accesses) rewrite(access);
    for (const MemberUses::Subscript& subscript : uses.subscripts) rewrite(subscript);
    for (const MemberUses::Copy& copy : uses.copies) rewrite(copy);
    for (const MemberUses::Wide& wide : uses.wides) rewrite(wide);
    for (StoreInst* store : uses.stores) rewrite(*store);
    for (Instruction* pointer : reverse(uses.pointers)) pointer->eraseFromParent();
    whole.eraseFromParent();
  }
  const std::vector<AllocaInst*>& all() const { return variables; }

private:
  void make() {
    IRBuilder<> builder(&whole);
    for (unsigned member = 0; member < uses.count(); ++member) {
      Type* type = uses.record->getElementType(member);
      if (uses.rows > 1) type = ArrayType::get(type, std::uint64_t(uses.rows));
      AllocaInst* variable = builder.CreateAlloca(type);
      variable->setAlignment(alignmentOf(member));
      variable->setName(whole.getName());
      for (DbgVariableRecord* declare : findDVRDeclares(&whole)) describe(*declare, member, *variable);
      variables.push_back(variable);
    }
    for (Instruction* lifetime : uses.lifetimes) {
      IRBuilder<> at(lifetime);
      const bool isStart = cast<IntrinsicInst>(lifetime)->getIntrinsicID() == Intrinsic::lifetime_start;
      for (AllocaInst* variable : variables)
        isStart ? at.CreateLifetimeStart(variable) : at.CreateLifetimeEnd(variable);
      lifetime->eraseFromParent();
    }
  }

  /// What it is called, and that it is a part of the source's variable.
  void describe(const DbgVariableRecord& declare, unsigned member, AllocaInst& variable) const {
    const std::uint64_t start = std::uint64_t(uses.startOf(member)) * 8,
                        bits = std::uint64_t(uses.endOf(member)) * 8 - start;
    variable.setName(whole.getName() + memberName(*declare.getVariable(), start));
    const auto part = uses.rows == 1 ? DIExpression::createFragmentExpression(declare.getExpression(),
                                                                              unsigned(start), unsigned(bits))
                                     : std::optional(declare.getExpression());
    if (!part) return;
    auto* record = DbgVariableRecord::createDVRDeclare(&variable, declare.getVariable(), *part,
                                                       declare.getDebugLoc().get());
    whole.getParent()->insertDbgRecordAfter(record, &variable);
  }

  /// Of each element, where there are several.
  Align alignmentOf(unsigned member) const {
    const Align first = commonAlignment(whole.getAlign(), std::uint64_t(uses.startOf(member)));
    return uses.rows == 1 ? first
                          : commonAlignment(first, std::uint64_t(uses.endOf(member) - uses.startOf(member)));
  }

  Value* addressOf(IRBuilder<>& builder, unsigned member, const MemberPlace& place, const Value* like) const {
    Value* address = variables[member];
    const std::int64_t row = place.row ? 0 : place.offset / uses.rowBytes;
    if (place.row || row != 0) {
      Value* number = place.row ? place.row : builder.getInt64(std::uint64_t(row));
      address = builder.CreateInBoundsGEP(variables[member]->getAllocatedType(), address,
                                          {builder.getInt64(0), number});
    }
    const std::int64_t inside = place.offset - row * uses.rowBytes - uses.startOf(member);
    if (inside != 0) address = builder.CreateInBoundsPtrAdd(address, builder.getInt64(std::uint64_t(inside)));
    return builder.CreateAddrSpaceCast(address, like->getType());
  }

  void rewrite(const MemberUses::Access& access) const {
    Instruction& user = *access.user;
    IRBuilder<> builder(&user);
    Value* old = user.getOperand(access.operand);
    user.setOperand(access.operand, addressOf(builder, access.member, access.place, old));
    const Align most = alignmentOf(access.member);
    if (auto* store = dyn_cast<StoreInst>(&user)) store->setAlignment(std::min(store->getAlign(), most));
    if (auto* load = dyn_cast<LoadInst>(&user)) load->setAlignment(std::min(load->getAlign(), most));
  }

  void rewrite(const MemberUses::Subscript& subscript) const {
    GetElementPtrInst& gep = *subscript.user;
    IRBuilder<> builder(&gep);
    SmallVector<Value*> indices{builder.getInt64(0)};
    indices.append(gep.idx_begin() + (subscript.firstIndex - 1), gep.idx_end());
    Value* array = addressOf(builder, subscript.member, subscript.place, gep.getPointerOperand());
    auto* made = GetElementPtrInst::Create(subscript.array, array, indices, "", gep.getIterator());
    made->setNoWrapFlags(gep.getNoWrapFlags());
    made->copyMetadata(gep);
    made->takeName(&gep);
    gep.replaceAllUsesWith(made);
    gep.eraseFromParent();
  }

  void rewrite(const MemberUses::Copy& copy) const {
    IRBuilder<> builder(copy.user);
    auto* transfer = dyn_cast<MemTransferInst>(copy.user);
    const std::vector<MemberUses::Piece> pieces = *uses.piecesOf(copy.place, copy.bytes);
    for (const MemberUses::Piece& piece : pieces) {
      Value* mine = addressOf(builder, piece.member, piece.place, copy.user->getOperand(copy.operand));
      const auto at = std::uint64_t(piece.before), bytes = std::uint64_t(piece.bytes);
      CallInst* made = nullptr;
      if (!transfer) {
        made = builder.CreateMemSet(mine, cast<MemSetInst>(copy.user)->getValue(), bytes, MaybeAlign());
      } else {
        const bool isTo = copy.operand == 0;
        Value* other = isTo ? transfer->getRawSource() : transfer->getRawDest();
        const MaybeAlign known = isTo ? transfer->getSourceAlign() : transfer->getDestAlign();
        const MaybeAlign aligned = known ? MaybeAlign(commonAlignment(*known, at)) : known;
        if (at != 0) other = builder.CreatePtrAdd(other, builder.getInt64(at));
        made = isTo ? builder.CreateMemCpy(mine, MaybeAlign(), other, aligned, bytes)
                    : builder.CreateMemCpy(other, aligned, mine, MaybeAlign(), bytes);
      }
      made->copyMetadata(*copy.user);
    }
    copy.user->eraseFromParent();
  }

  /// Each member gives or gets its bits.
  void rewrite(const MemberUses::Wide& wide) const {
    IRBuilder<> builder(wide.user);
    Type* bits = builder.getIntNTy(unsigned(wide.bytes) * 8);
    auto* store = dyn_cast<StoreInst>(wide.user);
    Value* whole = store ? builder.CreateBitCast(store->getValueOperand(), bits) : ConstantInt::get(bits, 0);
    const std::vector<MemberUses::Piece> pieces = *uses.piecesOf(wide.place, wide.bytes);
    for (const MemberUses::Piece& piece : pieces) {
      Type* part = builder.getIntNTy(unsigned(piece.bytes) * 8);
      Value* address = addressOf(builder, piece.member, piece.place, getLoadStorePointerOperand(wide.user));
      const auto shift = std::uint64_t(piece.before) * 8;
      Instruction* made = nullptr;
      if (store) {
        Value* mine = builder.CreateTrunc(builder.CreateLShr(whole, shift), part);
        made = builder.CreateAlignedStore(mine, address, Align(1));
      } else {
        made = builder.CreateAlignedLoad(part, address, Align(1));
        whole = builder.CreateOr(whole, builder.CreateShl(builder.CreateZExt(made, bits), shift));
      }
      made->copyMetadata(*wide.user);
      made->setMetadata(LLVMContext::MD_tbaa, nullptr);
    }
    if (!store) wide.user->replaceAllUsesWith(builder.CreateBitCast(whole, wide.user->getType()));
    wide.user->eraseFromParent();
  }

  /// A value for the whole object.
  void rewrite(StoreInst& store) const {
    IRBuilder<> builder(&store);
    for (unsigned row = 0; row < unsigned(uses.rows); ++row)
      for (unsigned member = 0; member < uses.count(); ++member) {
        SmallVector<unsigned, 2> indices;
        if (store.getValueOperand()->getType()->isArrayTy()) indices.push_back(row);
        indices.push_back(member);
        Value* part = builder.CreateExtractValue(store.getValueOperand(), indices);
        const MemberPlace place{nullptr, row * uses.rowBytes + uses.startOf(member)};
        builder.CreateStore(part, addressOf(builder, member, place, store.getPointerOperand()))
            ->copyMetadata(store);
      }
    store.eraseFromParent();
  }

  const MemberUses& uses;
  AllocaInst& whole;
  std::vector<AllocaInst*> variables;
};

} // namespace

bool splitMembers(llvm::Function& kernel) {
  std::vector<AllocaInst*> locals;
  for (Instruction& instruction : instructions(kernel))
    if (auto* local = dyn_cast<AllocaInst>(&instruction)) locals.push_back(local);
  const std::size_t before = locals.size();
  for (std::size_t i = 0; i < locals.size(); ++i) { // members may be objects, too
    MemberUses uses(*locals[i]);
    if (!uses.find()) continue;
    const MemberVariables variables(uses);
    locals.insert(locals.end(), variables.all().begin(), variables.all().end());
  }
  return locals.size() != before;
}

} // namespace kcheck::analyzer
