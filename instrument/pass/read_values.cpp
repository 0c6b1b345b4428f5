#include "instrument/pass/read_values.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace kcheck::instrument {

namespace {

constexpr std::size_t kMostStates = 512, kMostValues = 256;

using Values = std::set<const llvm::Value*>;

/// A place by a base and a constant distance from it.
std::pair<const llvm::Value*, std::int64_t> placeOf(const llvm::Value* pointer,
                                                    const llvm::DataLayout& layout) {
  llvm::APInt offset(64, 0);
  pointer = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
  while (const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(pointer))
    pointer = cast->getPointerOperand();
  return {pointer, offset.getSExtValue()};
}

/// What a hook stands for: a structure may be read field by field.
class Reads {
public:
  explicit Reads(const llvm::CallInst& hook)
      : hook(hook), layout(hook.getModule()->getDataLayout()), place(placeOf(hook.getArgOperand(1), layout)) {
    const auto* size = llvm::dyn_cast<llvm::ConstantInt>(hook.getArgOperand(2));
    if (!size) return;
    bytes = size->getZExtValue();
    for (const llvm::Instruction* next = hook.getNextNode(); next; next = next->getNextNode()) {
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(next)) {
        if (startIn(*load)) all.push_back(load);
      } else if (next->mayWriteToMemory() && !next->isLifetimeStartOrEnd()) {
        break;
      }
    }
  }

  bool areUnused() const {
    const auto isUnused = [](const llvm::LoadInst* load) { return load->use_empty(); };
    return std::all_of(all.begin(), all.end(), isUnused) && !isReadElsewhere();
  }

  /// 0: all, or not known.
  std::uint32_t usedWords() const {
    constexpr unsigned kWord = 4, kMostWords = 32;
    if (bytes > kWord * kMostWords || all.empty()) return 0;
    std::uint32_t words = 0;
    const auto use = [&](std::uint64_t from, std::uint64_t size) {
      for (std::uint64_t at = from; at < std::min(from + size, bytes); ++at) words |= 1u << (at / kWord);
    };
    for (const llvm::LoadInst* load : all) useOf(*load, use);
    const bool isAll = words == llvm::maskTrailingOnes<std::uint32_t>(unsigned((bytes + kWord - 1) / kWord));
    return isAll || isReadElsewhere() ? 0 : words;
  }

  std::vector<const llvm::LoadInst*> all;

private:
  std::optional<std::uint64_t> startIn(const llvm::LoadInst& load) const {
    const auto [from, offset] = placeOf(load.getPointerOperand(), layout);
    if (from != place.first || offset < place.second) return {};
    const auto start = std::uint64_t(offset - place.second);
    return start < bytes ? std::optional(start) : std::nullopt;
  }

  /// Of a vector, the elements that are taken out of it.
  template <typename Use> void useOf(const llvm::LoadInst& load, const Use& use) const {
    const std::uint64_t start = *startIn(load);
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
    for (const llvm::User* user : load.users()) {
      const auto* element = llvm::dyn_cast<llvm::ExtractElementInst>(user);
      const auto* index =
          element && vector ? llvm::dyn_cast<llvm::ConstantInt>(element->getIndexOperand()) : nullptr;
      const std::uint64_t size =
          vector ? layout.getTypeStoreSize(vector->getElementType()).getFixedValue() : 0;
      if (index)
        use(start + index->getZExtValue() * size, size);
      else
        use(start, layout.getTypeStoreSize(load.getType()).getFixedValue());
    }
  }

  /// Where the loads were moved apart, some may stand anywhere.
  bool isReadElsewhere() const {
    for (const llvm::Instruction& instruction : llvm::instructions(*hook.getFunction())) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load && startIn(*load) && std::find(all.begin(), all.end(), load) == all.end()) return true;
    }
    return false;
  }

  const llvm::CallInst& hook;
  const llvm::DataLayout& layout;
  std::pair<const llvm::Value*, std::int64_t> place;
  std::uint64_t bytes = 0;
};

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
  const Reads reads(hook);
  if (reads.all.empty()) return {};
  return {Ways(reads.all).anyWithout(), areCopied(reads.all), reads.areUnused(), reads.usedWords()};
}

} // namespace kcheck::instrument
