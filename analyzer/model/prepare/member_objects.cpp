#include "analyzer/model/prepare/member_objects.h"

#include "analyzer/model/prepare/member_uses.h"
#include "analyzer/model/prepare/prepare.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr const char* kSuffix = ".member.";
constexpr const char* kPart = "kcheck.part"; ///< metadata: start and end

/// One structure.
class Separation {
public:
  explicit Separation(Value& whole) : uses(whole) {}

  /// Where there is more than one group.
  void separate() {
    if (!uses.find() || !uses.stores.empty()) return;
    group();
    if (groups.getNumClasses() < 2) return noteOnlyOne();
    for (const MemberUses::Access& access : uses.accesses) lead(*access.user, access.operand, access.member);
    for (const MemberUses::Subscript& one : uses.subscripts) lead(*one.user, 0, one.member);
    for (const MemberUses::Copy& copy : uses.copies)
      lead(*copy.user, copy.operand, uses.piecesOf(copy.place, copy.bytes)->front().member);
    for (const MemberUses::Wide& wide : uses.wides)
      lead(*wide.user, wide.operand, uses.piecesOf(wide.place, wide.bytes)->front().member);
    for (const MemberUses::Open& open : uses.opens) mark(open);
    for (Instruction* pointer : reverse(uses.pointers)) pointer->eraseFromParent();
  }

private:
  /// What one access takes together is one group.
  void group() {
    for (const MemberUses::Access& access : uses.accesses) groups.insert(access.member);
    for (const MemberUses::Subscript& one : uses.subscripts) groups.insert(one.member);
    const auto unite = [&](const MemberPlace& place, std::int64_t bytes) {
      const std::vector<MemberUses::Piece> pieces = *uses.piecesOf(place, bytes);
      for (const MemberUses::Piece& piece : pieces) groups.unionSets(pieces.front().member, piece.member);
    };
    for (const MemberUses::Copy& copy : uses.copies) unite(copy.place, copy.bytes);
    for (const MemberUses::Wide& wide : uses.wides) unite(wide.place, wide.bytes);
  }

  void lead(Instruction& user, unsigned operand, unsigned member) {
    const unsigned group = groups.getLeaderValue(member);
    user.setOperand(operand, addressIn(group, *user.getOperand(operand)));
  }

  /// What tells the model to ask whether the element is one of the array's.
  void mark(const MemberUses::Open& open) {
    const MemberUses::Subscript& subscript = uses.subscripts[open.subscript];
    GetElementPtrInst& gep = *subscript.user;
    Value*& start = starts[open.subscript];
    if (!start) {
      SmallVector<Value*> before(gep.idx_begin(), gep.idx_begin() + (subscript.firstIndex - 1));
      start =
          IRBuilder<>(&gep).CreateInBoundsGEP(gep.getSourceElementType(), gep.getPointerOperand(), before);
    }
    IRBuilder<> builder(open.user);
    Type *pointer = builder.getPtrTy(), *number = builder.getInt64Ty();
    auto callee =
        gep.getModule()->getOrInsertFunction(kWithin, builder.getVoidTy(), pointer, pointer, number, number);
    const auto bytes = gep.getDataLayout().getTypeAllocSize(subscript.array).getFixedValue();
    CallInst* call =
        builder.CreateCall(callee, {builder.CreateAddrSpaceCast(open.user->getOperand(open.operand), pointer),
                                    builder.CreateAddrSpaceCast(start, pointer), builder.getInt64(bytes),
                                    builder.getInt64(std::uint64_t(open.bytes))});
    call->setOnlyAccessesInaccessibleMemory();
    call->setDoesNotThrow();
  }

  /// The same address, from the start of a group.
  Value* addressIn(unsigned group, Value& address) {
    Value*& known = addresses[{group, &address}];
    if (known) return known;
    if (&address == &uses.whole) return known = startOf(group);
    auto& instruction = cast<Instruction>(address);
    Value* from = addressIn(group, *instruction.getOperand(0));
    Instruction* made = instruction.clone();
    made->setOperand(0, from);
    made->insertAfter(&instruction);
    return addresses[{group, &address}] = made;
  }

  Value* startOf(unsigned group) {
    if (auto* variable = dyn_cast<GlobalVariable>(&uses.whole)) {
      auto* part = new GlobalVariable(
          *variable->getParent(), variable->getValueType(), variable->isConstant(), variable->getLinkage(),
          variable->hasInitializer() ? variable->getInitializer() : nullptr,
          variable->getName() + kSuffix + std::to_string(group), variable, variable->getThreadLocalMode(),
          variable->getAddressSpace(), variable->isExternallyInitialized());
      part->copyAttributesFrom(variable);
      part->copyMetadata(variable, 0);
      if (uses.rows == 1) notePart(*part, group);
      return part;
    }
    auto& parameter = cast<llvm::Argument>(uses.whole);
    llvm::Function& kernel = *parameter.getParent();
    IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
    auto callee = kernel.getParent()->getOrInsertFunction(kMember, parameter.getType(), parameter.getType(),
                                                          builder.getInt32Ty());
    CallInst* call = builder.CreateCall(callee, {&parameter, builder.getInt32(group)});
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    return call;
  }

  /// The others are not used.
  void noteOnlyOne() const {
    auto* variable = dyn_cast<GlobalVariable>(&uses.whole);
    if (variable && uses.rows == 1 && uses.opens.empty() && groups.getNumClasses() == 1)
      notePart(*variable, groups.begin()->getData());
  }

  void notePart(GlobalVariable& part, unsigned group) const {
    std::int64_t start = uses.startOf(group), end = uses.endOf(group);
    for (auto member = groups.findLeader(group); member != groups.member_end(); ++member) {
      start = std::min(start, uses.startOf(*member));
      end = std::max(end, uses.endOf(*member));
    }
    LLVMContext& context = part.getContext();
    const auto number = [&](std::int64_t value) {
      return ConstantAsMetadata::get(ConstantInt::getSigned(Type::getInt64Ty(context), value));
    };
    part.setMetadata(kPart, MDNode::get(context, {number(start), number(end)}));
  }

  MemberUses uses;
  EquivalenceClasses<unsigned> groups; ///< of the members that are used
  std::map<std::pair<unsigned, Value*>, Value*> addresses;
  std::map<std::size_t, Value*> starts; ///< of the arrays of subscripts
};

} // namespace

void separateMembers(PreparedModule& prepared) {
  std::vector<GlobalVariable*> variables;
  for (GlobalVariable& variable : prepared.module->globals())
    if (!variable.isDeclaration() && !variable.isConstant() && MemberUses(variable).record)
      variables.push_back(&variable);
  for (GlobalVariable* variable : variables) {
    convertUsersOfConstantsToInstructions({variable});
    Separation(*variable).separate();
  }
  for (KernelCode& kernel : prepared.kernels)
    for (llvm::Argument& parameter : kernel.function->args())
      if (parameter.getType()->isPointerTy() && !parameter.hasByValAttr()) Separation(parameter).separate();
}

std::optional<std::pair<std::int64_t, std::int64_t>> partOf(const GlobalVariable& variable) {
  const MDNode* node = variable.getMetadata(kPart);
  if (!node) return {};
  const auto number = [&](unsigned i) {
    return mdconst::extract<ConstantInt>(node->getOperand(i))->getSExtValue();
  };
  return std::pair(number(0), number(1) - number(0));
}

bool isMember(const GlobalVariable& variable) { return variable.getName().contains(kSuffix); }

std::string wholeName(const GlobalVariable& variable) {
  return variable.getName().split(kSuffix).first.str();
}

} // namespace kcheck::analyzer
