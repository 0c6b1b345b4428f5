#include "instrument/pass/read_values.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <set>
#include <vector>

namespace kcheck::instrument {

namespace {

constexpr std::size_t kMostStates = 512, kMostValues = 256;

using Values = std::set<const llvm::Value*>;

/// The loads that the hook stands for: a structure may be read field by field.
std::vector<const llvm::LoadInst*> readsOf(const llvm::CallInst& hook) {
  std::vector<const llvm::LoadInst*> reads;
  const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(hook.getArgOperand(2));
  if (!bytes) return reads;
  const llvm::DataLayout& layout = hook.getModule()->getDataLayout();
  auto placeOf = [&](const llvm::Value* pointer) {
    llvm::APInt offset(64, 0);
    pointer = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
    while (const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(pointer))
      pointer = cast->getPointerOperand();
    return std::pair(pointer, offset.getSExtValue());
  };
  const auto [base, start] = placeOf(hook.getArgOperand(1));
  for (const llvm::Instruction* next = hook.getNextNode(); next; next = next->getNextNode()) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(next)) {
      const auto [from, offset] = placeOf(load->getPointerOperand());
      if (from == base && offset >= start && std::uint64_t(offset - start) < bytes->getZExtValue())
        reads.push_back(load);
    } else if (next->mayWriteToMemory() && !next->isLifetimeStartOrEnd()) {
      break;
    }
  }
  return reads;
}

/// Instructions that hand a value on as it is. Who computes with it has use for it: a sum over a tile with
/// a hole in it is wrong, whoever stores it.
bool movesOn(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::CastInst, llvm::SelectInst, llvm::FreezeInst, llvm::ExtractValueInst,
                   llvm::InsertValueInst, llvm::ExtractElementInst, llvm::InsertElementInst,
                   llvm::ShuffleVectorInst>(instruction) &&
         !llvm::isa<llvm::IntToPtrInst>(instruction);
}

bool usesAny(const llvm::Instruction& instruction, const Values& values) {
  return std::any_of(instruction.op_begin(), instruction.op_end(),
                     [&](const llvm::Use& use) { return values.contains(use.get()); });
}

/// The ways on from the reads, each with the values that theirs has gone into.
class Ways {
public:
  explicit Ways(const std::vector<const llvm::LoadInst*>& reads)
      : reads(reads.begin(), reads.end()), first(reads.front()) {}

  /// Whether one of them ends without a use.
  bool anyWithout() {
    pending.push_back({first->getNextNode(), reads});
    while (!pending.empty() && steps++ < kMostStates) {
      State state = std::move(pending.back());
      pending.pop_back();
      if (follow(state.at, std::move(state.values))) return true;
    }
    return false;
  }

private:
  struct State {
    const llvm::Instruction* at;
    Values values;
  };
  Values reads;
  const llvm::LoadInst* first;
  std::set<std::pair<const llvm::Instruction*, Values>> seen;
  std::vector<State> pending;
  std::size_t steps = 0;

  /// To the end of the block. True where nothing of the value is left there.
  bool follow(const llvm::Instruction* at, Values values) {
    for (;; at = at->getNextNode()) {
      if (at == first) // a new one
        std::erase_if(values, [&](const llvm::Value* one) { return reads.contains(one); });
      if (values.empty()) return true;
      if (llvm::isa<llvm::ReturnInst>(at)) return !usesAny(*at, values);
      if (at->isTerminator()) {
        if (!usesAny(*at, values)) leave(*at, values);
        return false;
      }
      if (at->isDebugOrPseudoInst() || at->isLifetimeStartOrEnd() || !usesAny(*at, values)) continue;
      const auto* choice = llvm::dyn_cast<llvm::SelectInst>(at);
      if (!movesOn(*at) || (choice && values.contains(choice->getCondition()))) return false;
      if (choice && !(values.contains(choice->getTrueValue()) && values.contains(choice->getFalseValue())))
        pending.push_back({at->getNextNode(), values}); // it takes the other one
      values.insert(at);
    }
  }

  void leave(const llvm::Instruction& end, const Values& values) {
    for (unsigned i = 0; i < end.getNumSuccessors(); ++i) {
      const llvm::BasicBlock* next = end.getSuccessor(i);
      Values there = values;
      for (const llvm::PHINode& phi : next->phis()) {
        there.erase(&phi);
        if (values.contains(phi.getIncomingValueForBlock(end.getParent()))) there.insert(&phi);
      }
      const llvm::Instruction* start = &*next->getFirstNonPHIIt();
      if (seen.insert({start, there}).second) pending.push_back({start, std::move(there)});
    }
  }
};

/// Whether all that is done with the reads is to store them.
bool areCopied(const std::vector<const llvm::LoadInst*>& reads) {
  Values seen(reads.begin(), reads.end());
  std::vector<const llvm::Value*> pending(reads.begin(), reads.end());
  bool isStored = false;
  while (!pending.empty()) {
    const llvm::Value* value = pending.back();
    pending.pop_back();
    for (const llvm::User* user : value->users()) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
      if (store && store->getPointerOperand() == value) return false;
      isStored |= store != nullptr;
      if (store) continue;
      const bool isPassedOn =
          llvm::isa<llvm::CastInst, llvm::PHINode, llvm::ExtractValueInst, llvm::InsertValueInst,
                    llvm::ExtractElementInst, llvm::InsertElementInst, llvm::FreezeInst>(user) &&
          !llvm::isa<llvm::IntToPtrInst>(user);
      if (!isPassedOn || seen.size() >= kMostValues) return false;
      if (seen.insert(user).second) pending.push_back(user);
    }
  }
  return isStored;
}

} // namespace

ReadValue valueOf(const llvm::CallInst& hook) {
  const std::vector<const llvm::LoadInst*> reads = readsOf(hook);
  if (reads.empty()) return {};
  return {Ways(reads).anyWithout(), areCopied(reads)};
}

} // namespace kcheck::instrument
