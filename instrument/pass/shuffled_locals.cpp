#include "instrument/pass/shuffled_locals.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

namespace kcheck::instrument {

namespace {

constexpr unsigned kModeOperand = 2, kValueOperand = 5;

bool isShuffle(const llvm::Instruction& instruction) {
  return isWaitMarker(instruction) &&
         waitKindOf(llvm::cast<llvm::CallInst>(instruction)) == abi::WaitKind::Shuffle;
}

/// Takes a value apart or puts it together, as shuffles of 64 bits do.
bool onlyMoves(const llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
  case llvm::Instruction::BitCast:
  case llvm::Instruction::ZExt:
  case llvm::Instruction::Trunc:
  case llvm::Instruction::Or: return true;
  case llvm::Instruction::And:
  case llvm::Instruction::Shl:
  case llvm::Instruction::LShr: return llvm::isa<llvm::ConstantInt>(instruction.getOperand(1));
  default: return false;
  }
}

bool collectOffers(llvm::Instruction& value, std::vector<llvm::CallInst*>& shuffles) {
  for (llvm::Use& use : value.uses()) {
    auto& user = *llvm::cast<llvm::Instruction>(use.getUser());
    if (isShuffle(user) && use.getOperandNo() == kValueOperand)
      shuffles.push_back(llvm::cast<llvm::CallInst>(&user));
    else if (!onlyMoves(user) || !collectOffers(user, shuffles))
      return false;
  }
  return true;
}

bool isUsed(const llvm::Instruction& value) {
  return llvm::any_of(value.users(), [&](const llvm::User* one) {
    const auto& user = *llvm::cast<llvm::Instruction>(one);
    if (onlyMoves(user)) return isUsed(user);
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user);
    return !store || store->getValueOperand() != &value ||
           !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand(), 0));
  });
}

bool isResult(const llvm::Value* value) {
  const auto* piece = llvm::dyn_cast<llvm::ExtractValueInst>(value);
  return piece && piece->getIndices()[0] == 0;
}

} // namespace

std::vector<llvm::CallInst*> shufflesOf(llvm::LoadInst& load) {
  std::vector<llvm::CallInst*> shuffles;
  if (!collectOffers(load, shuffles)) shuffles.clear();
  return shuffles;
}

std::vector<llvm::CallInst*> shufflesIn(const llvm::Value* value, const std::set<llvm::CallInst*>& among) {
  std::vector<llvm::CallInst*> found;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction) return found;
  if (isResult(instruction)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(instruction->getOperand(0));
    if (call && among.contains(call)) found.push_back(call);
  } else if (onlyMoves(*instruction)) {
    for (const llvm::Value* operand : instruction->operands())
      for (llvm::CallInst* call : shufflesIn(operand, among)) found.push_back(call);
  }
  return found;
}

bool isResultUsed(llvm::CallInst& shuffle) {
  return llvm::any_of(shuffle.users(), [](const llvm::User* user) {
    return isResult(user) && isUsed(*llvm::cast<llvm::Instruction>(user));
  });
}

void offerMissing(llvm::CallInst& shuffle, llvm::Value* missing) {
  llvm::IRBuilder<> builder(&shuffle);
  llvm::Value* mode = shuffle.getArgOperand(kModeOperand);
  auto* without = builder.CreateOr(mode, builder.getInt32(abi::kOffersNothing));
  shuffle.setArgOperand(kModeOperand, builder.CreateSelect(missing, without, mode));
}

llvm::Value* receivedMissing(llvm::IRBuilderBase& builder, llvm::CallInst& shuffle) {
  auto* answer = builder.CreateExtractValue(&shuffle, 1);
  return builder.CreateICmpNE(builder.CreateAnd(answer, abi::kReceivedNothing), builder.getInt32(0));
}

llvm::Value* offeredMissing(llvm::Value* question, bool& isReceived) {
  using namespace llvm::PatternMatch;
  llvm::Value* answer = nullptr;
  llvm::CmpInst::Predicate predicate = llvm::CmpInst::BAD_ICMP_PREDICATE;
  isReceived = match(
      question, m_ICmp(predicate, m_And(m_Value(answer), m_SpecificInt(abi::kReceivedNothing)), m_Zero()));
  auto* piece = isReceived ? llvm::dyn_cast<llvm::ExtractValueInst>(answer) : nullptr;
  auto* shuffle = piece ? llvm::dyn_cast<llvm::CallInst>(piece->getAggregateOperand()) : nullptr;
  isReceived = shuffle && isShuffle(*shuffle);
  if (!isReceived) return nullptr;
  auto* offer = llvm::dyn_cast<llvm::SelectInst>(shuffle->getArgOperand(kModeOperand));
  return offer ? offer->getCondition() : nullptr;
}

} // namespace kcheck::instrument
