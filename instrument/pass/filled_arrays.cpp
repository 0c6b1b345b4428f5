#include "instrument/pass/filled_arrays.h"

#include "instrument/pass/analyses.h"
#include "instrument/pass/markers.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace kcheck::instrument {

namespace {

/// Bytes [low, high) of a twin (track_locals.cpp) that say "written" whenever `where` has been passed and its
/// loop left.
struct Fill {
  std::int64_t low, high;
  const llvm::Instruction* where;
  const llvm::Loop* loop; ///< the outermost one that fills; null for a single store
};

/// How often the address moves on, and by how much.
struct Stride {
  std::int64_t step;
  std::uint64_t times;
};

class FilledArrays {
public:
  FilledArrays(llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution, llvm::DominatorTree& dominators)
      : loops(loops), evolution(evolution), dominators(dominators) {}

  bool isFilledBefore(llvm::AllocaInst& twin, const llvm::Instruction& question) {
    const llvm::DataLayout& layout = twin.getDataLayout();
    auto bytes = std::int64_t(twin.getAllocationSize(layout)->getFixedValue());
    std::vector<llvm::StoreInst*> stores;
    if (!onlyFilled(twin, stores)) return false;
    std::vector<Fill> fills;
    for (llvm::StoreInst* store : stores)
      if (auto fill = fillOf(*store, twin, question)) fills.push_back(*fill);
    std::sort(fills.begin(), fills.end(), [](const Fill& a, const Fill& b) { return a.low < b.low; });
    std::int64_t reached = 0;
    for (const Fill& fill : fills)
      if (fill.low <= reached) reached = std::max(reached, fill.high);
    return reached >= bytes;
  }

  /// The access is inside [base, base + bytes) in every turn of its loops.
  bool staysInside(llvm::CallInst& hook) {
    auto* size = llvm::dyn_cast<llvm::ConstantInt>(hook.getArgOperand(4));
    auto* extent = llvm::dyn_cast<llvm::ConstantInt>(hook.getArgOperand(2));
    if (!size || !extent || size->getZExtValue() > extent->getZExtValue()) return false;
    const llvm::SCEV* offset = evolution.getMinusSCEV(evolution.getSCEV(hook.getArgOperand(3)),
                                                      evolution.getSCEV(hook.getArgOperand(1)));
    if (llvm::isa<llvm::SCEVCouldNotCompute>(offset)) return false;
    return evolution.getUnsignedRangeMax(offset).ule(extent->getZExtValue() - size->getZExtValue());
  }

private:
  llvm::LoopInfo& loops;
  llvm::ScalarEvolution& evolution;
  llvm::DominatorTree& dominators;

  static bool saysWritten(const llvm::Value* value) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
    return constant && constant->getBitWidth() % 8 == 0 &&
           constant->getValue() == llvm::APInt::getSplat(constant->getBitWidth(), llvm::APInt(8, 1));
  }

  /// Whether nothing but "written" comes into the twin after it has been cleared at its start; collects the
  /// stores.
  static bool onlyFilled(llvm::Value& address, std::vector<llvm::StoreInst*>& stores, unsigned clears = 0) {
    for (llvm::User* user : address.users()) {
      if (llvm::isa<llvm::LoadInst>(user)) continue;
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
        if (store->getValueOperand() == &address || !saysWritten(store->getValueOperand())) return false;
        stores.push_back(store);
      } else if (auto* clear = llvm::dyn_cast<llvm::MemSetInst>(user)) {
        auto* value = llvm::dyn_cast<llvm::ConstantInt>(clear->getValue());
        bool isClear = value && value->isZero();
        if (!value || (!isClear && !value->isOne()) || (isClear && clears++)) return false;
      } else if (llvm::isa<llvm::GetElementPtrInst>(user)) {
        if (!onlyFilled(*user, stores, 1)) return false; // parts are not cleared
      } else {
        return false;
      }
    }
    return true;
  }

  /// The twin is cleared before `first`, if ever: what comes in between could undo nothing then.
  bool clearedBefore(const llvm::AllocaInst& twin, const llvm::Instruction& first) const {
    return std::all_of(twin.user_begin(), twin.user_end(), [&](const llvm::User* user) {
      const auto* clear = llvm::dyn_cast<llvm::MemSetInst>(user);
      return !clear || !llvm::cast<llvm::ConstantInt>(clear->getValue())->isZero() ||
             dominators.dominates(clear, &first);
    });
  }

  /// How often `block` runs each time that the loop is entered; 0: unknown.
  std::uint64_t timesOf(const llvm::Loop& loop, const llvm::BasicBlock* block) {
    const llvm::BasicBlock *exiting = loop.getExitingBlock(), *latch = loop.getLoopLatch();
    if (!exiting || !latch || !dominators.dominates(block, latch)) return 0;
    const auto* turns = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getBackedgeTakenCount(&loop));
    if (!turns || turns->getAPInt().getActiveBits() > 20) return 0;
    std::uint64_t back = turns->getAPInt().getZExtValue();
    if (dominators.dominates(block, exiting)) return back + 1;
    return dominators.dominates(exiting, block) ? back : 0;
  }

  std::optional<Fill> fillOf(llvm::StoreInst& store, llvm::AllocaInst& twin,
                             const llvm::Instruction& question) {
    const llvm::SCEV* offset =
        evolution.getMinusSCEV(evolution.getSCEV(store.getPointerOperand()), evolution.getSCEV(&twin));
    auto size = std::int64_t(
        twin.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType()).getFixedValue());
    Fill fill{0, 0, &store, nullptr};
    std::vector<Stride> strides;
    const llvm::BasicBlock* block = store.getParent();
    for (llvm::Loop* loop = loops.getLoopFor(block); loop && !loop->contains(question.getParent());
         loop = loop->getParentLoop()) {
      std::uint64_t times = timesOf(*loop, block);
      if (!times) return std::nullopt;
      if (const auto* moving = llvm::dyn_cast<llvm::SCEVAddRecExpr>(offset);
          moving && moving->getLoop() == loop) {
        const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(moving->getStepRecurrence(evolution));
        if (!step || !moving->isAffine() || step->getAPInt().getSignificantBits() > 32) return std::nullopt;
        strides.push_back({step->getAPInt().getSExtValue(), times});
        offset = moving->getStart();
      }
      block = loop->getHeader();
      fill.loop = loop;
      fill.where = block->getFirstNonPHI();
    }
    const auto* start = llvm::dyn_cast<llvm::SCEVConstant>(offset);
    if (!start || start->getAPInt().getSignificantBits() > 32) return std::nullopt;
    if (!dominators.dominates(fill.where, &question) || !clearedBefore(twin, *fill.where))
      return std::nullopt;
    fill.low = start->getAPInt().getSExtValue();
    return spread(fill, size, strides);
  }

  /// All bytes from the first to the last, where the strides leave none out.
  static std::optional<Fill> spread(Fill fill, std::int64_t size, std::vector<Stride> strides) {
    std::sort(strides.begin(), strides.end(),
              [](const Stride& a, const Stride& b) { return std::abs(a.step) < std::abs(b.step); });
    for (const Stride& stride : strides) {
      if (std::abs(stride.step) > size) return std::nullopt;
      std::int64_t way = stride.step * (std::int64_t(stride.times) - 1);
      if (way < 0) fill.low += way;
      size += std::abs(way);
    }
    fill.high = fill.low + size;
    return fill;
  }
};

llvm::AllocaInst* twinAskedBy(const llvm::CallInst& question) {
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(question.getArgOperand(1));
  const auto* marks = compare ? llvm::dyn_cast<llvm::LoadInst>(compare->getOperand(0)) : nullptr;
  if (!marks || !llvm::isa<llvm::ConstantInt>(compare->getOperand(1))) return nullptr;
  const llvm::Value* object = llvm::getUnderlyingObject(marks->getPointerOperand(), 0);
  return const_cast<llvm::AllocaInst*>(llvm::dyn_cast<llvm::AllocaInst>(object));
}

} // namespace

void settleFilledArrays(llvm::Function& function) {
  std::vector<llvm::CallInst*> hooks;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (isCallTo(instruction, Call::kcUnwritten) || isCallTo(instruction, Call::kcLocal))
      hooks.push_back(llvm::cast<llvm::CallInst>(&instruction));
  if (hooks.empty()) return;
  Analyses analyses;
  FilledArrays arrays(analyses.functions.getResult<llvm::LoopAnalysis>(function),
                      analyses.functions.getResult<llvm::ScalarEvolutionAnalysis>(function),
                      analyses.functions.getResult<llvm::DominatorTreeAnalysis>(function));
  std::vector<llvm::CallInst*> settled;
  for (llvm::CallInst* hook : hooks) {
    bool isLocal = isCallTo(*hook, Call::kcLocal);
    llvm::AllocaInst* twin = isLocal ? nullptr : twinAskedBy(*hook);
    if (isLocal ? arrays.staysInside(*hook) : twin && arrays.isFilledBefore(*twin, *hook))
      settled.push_back(hook);
  }
  for (llvm::CallInst* hook : settled) hook->eraseFromParent();
}

} // namespace kcheck::instrument
