// Control dependence of barriers, by post-dominators and transitively. A loop that does not contain the
// barrier is one decision: by which of its edges it is left.
#include "analyzer/model/barrier_controls.h"

#include "analyzer/model/barriers.h"
#include "analyzer/model/warp_values.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

class Controls {
public:
  Controls(KernelState& state, const Execution& run, BarrierKind kind)
      : state(state), run(run), kind(kind), postDominators(const_cast<llvm::Function&>(state.function)) {}

  void addFor(const BasicBlock* barrier) { addFor(*barrier->getFirstNonPHIOrDbg()); }

  void addFor(const Instruction& at) {
    instruction = &at;
    const BasicBlock* barrier = at.getParent();
    if (Expr mask = maskOf(at)) addCall(mask, comesTo(at));
    std::vector<const BasicBlock*> todo{barrier};
    std::set<const BasicBlock*> seen;
    while (!todo.empty()) {
      const BasicBlock* block = todo.back();
      todo.pop_back();
      if (!seen.insert(block).second) continue;
      for (auto& candidate : state.function) {
        if (!decides(&candidate, block)) continue;
        const Loop* loop = outermostWithout(&candidate, barrier);
        if (loop)
          addLoop(barrier, loop);
        else if (count_if(successors(&candidate), [](const BasicBlock* next) { return !traps(next); }) > 1)
          addBranch(barrier, &candidate);
        todo.push_back(loop ? loop->getHeader() : &candidate);
      }
    }
  }

  /// The lanes that a warp barrier or collective is for; null where it is for all.
  Expr maskOf(const Instruction& at) const {
    const auto together = lanesTogether(at);
    const Value* mask = together ? together->mask : barrierOf(at).mask;
    Expr lanes = mask ? const_cast<Execution&>(run).value(mask) : nullptr;
    return lanes && !isConst(lanes, -1) ? lanes : nullptr;
  }

private:
  /// Who goes this way ends the kernel for all (`if (wrong) __trap()`): nobody waits for it.
  static bool traps(const BasicBlock* block) {
    bool isTrapped = false;
    const bool goesOn = reaches(block, [&](const BasicBlock* at) {
      const bool ends = any_of(*at, [](const Instruction& i) {
        const auto* intrinsic = dyn_cast<IntrinsicInst>(&i);
        return intrinsic && intrinsic->getIntrinsicID() == Intrinsic::trap;
      });
      isTrapped |= ends;
      if (ends) return Step::Back;
      return succ_empty(at) || barrierOf(*at->getFirstNonPHIOrDbg()).kind != BarrierKind::None ? Step::Found
                                                                                               : Step::On;
    });
    return isTrapped && !goesOn;
  }

  bool decides(const BasicBlock* branch, const BasicBlock* block) {
    if (branch->getTerminator()->getNumSuccessors() < 2) return false;
    if (branch != block && postDominators.dominates(block, branch)) return false;
    return any_of(successors(branch),
                  [&](const BasicBlock* next) { return postDominators.dominates(block, next); });
  }

  const Loop* outermostWithout(const BasicBlock* block, const BasicBlock* barrier) {
    const Loop* result = nullptr;
    for (const Loop* loop = state.loopInfo.getLoopFor(block); loop && !loop->contains(barrier);
         loop = loop->getParentLoop())
      result = loop;
    return result;
  }

  Expr comesTo(const Instruction& at) const {
    Expr comes = (lanesTogether(at) ? run.conditions : run.barrierConditions).at(at.getParent());
    if (kind != BarrierKind::Grid) return comes;
    // A launch that is not cooperative has no such barrier at all.
    const auto asksLaunch = [](Expr n) {
      return n->op == Op::Symbol && n->symbol->cause.text == kWhetherCooperative;
    };
    Expr result = state.exprs.boolean(true);
    for (Expr part : conjunctsOf(comes))
      if (none_of(causesOf(part), [](const Cause& cause) { return cause.kind == CauseKind::Launch; }) &&
          !anyNode(part, asksLaunch))
        result = state.exprs.logicalAnd(result, part);
    return result;
  }

  void addCall(Expr mask, Expr comes) {
    ExprContext& exprs = state.exprs;
    Expr one = exprs.constant(32, 1),
         lane = exprs.binary(Op::And, state.linearThread(), exprs.constant(32, 31));
    Expr bit = exprs.binary(Op::And, exprs.binary(Op::LShr, mask, lane), one);
    const auto voters = votersOf(state, mask);
    Expr isOut = voters ? exprs.logicalNot(voters->vote) : exprs.eq(bit, exprs.constant(32, 0));
    // Who comes has voted for all that it comes by.
    Expr unnamed = voters && isVoter(*voters, comes) ? exprs.boolean(false) : exprs.logicalAnd(comes, isOut);
    if (isFalse(unnamed)) return;
    state.model.laneCalls.push_back(
        {locationOf(*instruction), state.withDefinitions(unnamed, {}), isFollowed(mask)});
  }

  /// Whether it is known whom the mask names: those of some indices, or all that voted for something.
  bool isFollowed(Expr mask) const {
    const auto voters = votersOf(state, mask);
    return voters ? !voters->group && !voters->value : isOfIndices(mask);
  }

  /// Whether lanes wait for one another there, where that is what is looked at.
  bool isMetTogether(const BasicBlock& block) const {
    return lanesTogether(*instruction) &&
           any_of(block, [](const Instruction& i) { return lanesTogether(i).has_value(); });
  }

  enum class Step : std::uint8_t { On, Back, Found };

  /// Whether a way from the block leads to one that `look` has Found; ways that it sends Back end there.
  template <typename Look> static bool reaches(const BasicBlock* from, Look look) {
    std::vector<const BasicBlock*> todo{from};
    std::set<const BasicBlock*> seen;
    while (!todo.empty()) {
      const BasicBlock* block = todo.back();
      todo.pop_back();
      if (!seen.insert(block).second) continue;
      const Step step = look(block);
      if (step == Step::Found) return true;
      if (step == Step::On)
        for (const BasicBlock* next : successors(block)) todo.push_back(next);
    }
    return false;
  }

  /// Whether lanes that go this way may meet those that wait at the warp barrier: at another one, or in
  /// another round.
  bool mayMeetElsewhere(const BasicBlock* from, const BasicBlock* waiting) {
    return reaches(from, [&](const BasicBlock* block) {
      const BarrierKind met = barrierOf(*block->getFirstNonPHIOrDbg()).kind;
      if (block == waiting || met == BarrierKind::Warp || met == BarrierKind::Lanes) return Step::Found;
      return met == BarrierKind::None ? Step::On : Step::Back;
    });
  }

  /// Whether threads that go this way run off the end of the kernel without meeting any barrier.
  bool leadsToExit(const BasicBlock* from, const BasicBlock* avoiding) {
    return !reaches(from, [&](const BasicBlock* block) {
      const bool waits = state.barrierBlocks.count(block) || block == avoiding || isMetTogether(*block);
      return waits ? Step::Found : Step::On;
    });
  }

  /// Whether lanes that the branch sends elsewhere do nothing more than return.
  bool othersReturn(const Instruction& branch, const BasicBlock* barrier) {
    const auto mayCome = [&](const BasicBlock* from) {
      return reaches(from,
                     [&](const BasicBlock* block) { return block == barrier ? Step::Found : Step::On; });
    };
    const bool haveParted = !all_of(successors(branch.getParent()), mayCome); // for good
    return none_of(successors(branch.getParent()), [&](const BasicBlock* next) {
      const bool comes = haveParted ? mayCome(next) : postDominators.dominates(barrier, next);
      return !comes && reaches(next, [&](const BasicBlock* block) {
        if (block == barrier) return Step::Back;
        return any_of(*block, [](const Instruction& i) { return i.mayWriteToMemory(); }) ? Step::Found
                                                                                         : Step::On;
      });
    });
  }

  /// Whether a thread may have written something by the time that it comes to the branch, or read what the
  /// kernel writes: a warp barrier puts what lanes did that have returned in no order.
  bool mayHaveWork(const Instruction& branch) {
    const auto isBefore = [&](const BasicBlock* block) {
      return reaches(block,
                     [&](const BasicBlock* to) { return to == branch.getParent() ? Step::Found : Step::On; });
    };
    const bool hasRead = any_of(run.accesses, [&](const RunAccess& one) {
      return one.access.kind == AccessKind::Read && state.isWritten(one.access.object) &&
             isBefore(one.instruction->getParent());
    });
    return hasRead || any_of(state.function, [&](const BasicBlock& block) {
             const bool writes = any_of(block, [](const Instruction& i) {
               const bool isBarrier =
                   isa<CallInst>(i) && !isa<MemIntrinsic>(i) && barrierOf(i).kind != BarrierKind::None;
               return i.mayWriteToMemory() && !isBarrier && !isa<DbgInfoIntrinsic>(i);
             });
             return writes && isBefore(&block);
           });
  }

  void add(const BasicBlock* barrier, const Instruction& branch, Expr reached, Expr condition,
           bool othersExit) {
    if (!reached || isFalse(reached) || isConst(condition)) return;
    const auto together = lanesTogether(*instruction);
    // Who has returned is not waited for; but who goes on to work is, and who is read from must be there.
    const bool areLanes = together || kind == BarrierKind::Warp;
    const bool othersLeave =
        areLanes && othersExit && !(together && together->needsAll) && othersReturn(branch, barrier);
    if (othersLeave && !(together ? together->readsLanes : mayHaveWork(branch))) return;
    if (!done.insert({instruction, reached, condition}).second) return;
    BarrierControl control;
    control.barrier = locationOf(*instruction);
    control.isTogether = together.has_value();
    control.needsAll = together && together->needsAll;
    control.branch = locationOf(branch);
    control.reach = kind == BarrierKind::Grid    ? BarrierReach::Grid
                    : kind == BarrierKind::Block ? BarrierReach::Block
                    : kind == BarrierKind::Named ? BarrierReach::Group
                                                 : BarrierReach::Warp;
    control.comes = comesTo(*instruction);
    if (Expr mask = maskOf(*instruction)) {
      control.isFollowed = isFollowed(mask);
      if (const auto voters = votersOf(state, mask))
        control.named = voters->vote;
      else
        control.mask = mask;
    }
    control.reached = state.withDefinitions(reached, {condition});
    control.condition = condition;
    control.othersExit = othersExit;
    control.othersLeave = othersLeave;
    control.othersMeet = kind == BarrierKind::Warp && !together && !othersExit &&
                         any_of(successors(branch.getParent()), [&](const BasicBlock* next) {
                           return !postDominators.dominates(barrier, next) && mayMeetElsewhere(next, barrier);
                         });
    state.model.barriers.push_back(control);
  }

  /// Where both ways of a branch may lead to the barrier, as in `a || b`: that the thread comes to it, or to
  /// the loop around it, in the round that the branch is in.
  Expr comesEitherWay(const BasicBlock* barrier, const BasicBlock* branch, Expr reached) {
    const Loop* around = state.loopInfo.getLoopFor(branch);
    const Loop* entered = nullptr;
    for (const Loop* loop = state.loopInfo.getLoopFor(barrier); loop != around;
         loop = loop->getParentLoop()) {
      if (!loop) return nullptr;
      entered = loop;
    }
    const BasicBlock* target = entered ? entered->getHeader() : barrier;
    const bool isEither = all_of(successors(branch), [&](const BasicBlock* next) {
      return reaches(next, [&](const BasicBlock* block) {
        const Loop* begun = state.loopInfo.isLoopHeader(block) ? state.loopInfo.getLoopFor(block) : nullptr;
        if (block == branch || (begun && begun->contains(branch))) return Step::Back; // another round
        return block == target ? Step::Found : Step::On;
      });
    });
    const auto entry = entered ? run.loopEntries.find(entered) : run.loopEntries.end();
    if (!isEither || (entered && entry == run.loopEntries.end())) return nullptr;
    return withoutPrefix(state.exprs, entered ? entry->second : comesTo(*instruction), reached);
  }

  void addBranch(const BasicBlock* barrier, const BasicBlock* block) {
    auto reached = run.endConditions.find(block); // what is assumed in the block holds at its end
    if (reached == run.endConditions.end()) return;
    const Instruction* end = block->getTerminator();
    bool othersExit =
        any_of(successors(block), [&](const BasicBlock* next) { return leadsToExit(next, barrier); });
    auto& execution = const_cast<Execution&>(run);
    if (isa<BranchInst>(end)) {
      Expr comes = comesEitherWay(barrier, block, reached->second);
      add(barrier, *end, reached->second, comes ? comes : run.branchConditions.at(block), othersExit);
    } else if (auto* choice = dyn_cast<SwitchInst>(end)) {
      Expr selector = execution.value(choice->getCondition());
      // All that surely come to the barrier go one way; who traps goes none.
      const auto wayOf = [&](const BasicBlock* next) {
        return postDominators.dominates(barrier, next) ? barrier : next;
      };
      std::set<const BasicBlock*> ways;
      for (const BasicBlock* next : successors(block))
        if (!traps(next)) ways.insert(wayOf(next));
      if (ways.size() < 2) return;
      MapVector<const BasicBlock*, Expr> taken;
      for (auto& option : choice->cases()) {
        Expr equal = state.exprs.eq(selector, execution.value(option.getCaseValue()));
        const auto [entry, isNew] = taken.insert({wayOf(option.getCaseSuccessor()), equal});
        if (!isNew) entry->second = state.exprs.logicalOr(entry->second, equal);
      }
      const BasicBlock* otherwise = wayOf(choice->getDefaultDest());
      for (auto& [way, isTaken] : taken)
        if (ways.contains(way) && way != otherwise) add(barrier, *end, reached->second, isTaken, othersExit);
    }
  }

  void addLoop(const BasicBlock* barrier, const Loop* loop) {
    auto entry = run.loopEntries.find(loop);
    if (entry == run.loopEntries.end()) return;
    SmallVector<std::pair<BasicBlock*, BasicBlock*>> list;
    loop->getExitEdges(list);
    std::set<const BasicBlock*> targets;
    erase_if(list, [](const auto& edge) { return traps(edge.second); });
    for (auto& [from, to] : list) targets.insert(to);
    if (targets.size() < 2) return; // left in one way only
    for (auto& [from, to] : list) {
      auto edge = run.exitEdges.find({from, to});
      if (edge == run.exitEdges.end()) continue;
      Expr relative = withoutPrefix(state.exprs, edge->second, entry->second);
      add(barrier, *from->getTerminator(), entry->second, relative ? relative : edge->second,
          leadsToExit(to, barrier));
    }
  }

  KernelState& state;
  const Execution& run;
  BarrierKind kind;
  PostDominatorTree postDominators;
  const Instruction* instruction = nullptr; ///< that is looked at
  std::set<std::tuple<const Instruction*, Expr, Expr>> done;
};

} // namespace

void addBarrierControls(KernelState& state, const Execution& run, BarrierKind kind) {
  Controls controls(state, run, kind);
  for (const BasicBlock& block : state.function)
    if (run.barrierConditions.count(&block) && barrierOf(*block.getFirstNonPHIOrDbg()).kind == kind)
      controls.addFor(&block);
}

/// Matrices lie in 32 lanes, and there are as many in blocks of whole warps alone.
static void askForWholeWarps(KernelState& state, const Instruction& instruction) {
  constexpr std::int64_t kLanes = 32;
  std::int64_t threads = 1;
  for (Expr extent : state.model.blockDim) threads *= isConst(extent) ? extent->value : 0; // 0: not known
  if (threads == 0) state.model.takesWholeWarps = true;
  if (threads % kLanes == 0) return;
  state.model.hasPartOfWarp = true;
  state.gap(&instruction,
            "the matrix operation takes whole warps, and a block of " + std::to_string(threads) +
                " threads leaves one without some of its lanes",
            false, true, false);
}

void addTogetherControls(KernelState& state, const Execution& run) {
  Controls controls(state, run, BarrierKind::Warp);
  for (const BasicBlock& block : state.function) {
    if (!run.conditions.count(&block)) continue;
    std::set<std::pair<Expr, bool>> asked; // one after the other asks the same of who comes
    for (const Instruction& instruction : block) {
      const auto together = lanesTogether(instruction);
      if (!together) continue;
      if (!together->isFollowed) {
        state.gap(&instruction, "which lanes this inline PTX brings together is not followed", false, true,
                  false);
        continue;
      }
      if (together->needsAll) askForWholeWarps(state, instruction);
      // One that misses lanes that have returned asks for more than one that does not.
      const Expr mask = controls.maskOf(instruction);
      if (asked.insert({mask, together->needsAll}).second) controls.addFor(instruction);
    }
  }
}

} // namespace kcheck::analyzer
