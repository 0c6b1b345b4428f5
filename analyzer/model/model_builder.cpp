// The runs that make a kernel's model once enough is known of it (learning.cpp): one from the entry through
// all barriers, and one from each start of a phase; for each kind of barrier anew.
#include "analyzer/model/model_builder.h"
#include "analyzer/model/apart.h"
#include "analyzer/model/barrier_controls.h"
#include "analyzer/model/barrier_groups.h"
#include "analyzer/model/distances.h"
#include "analyzer/model/execution.h"
#include "analyzer/model/flags.h"
#include "analyzer/model/grid_size.h"
#include "analyzer/model/learning.h"
#include "analyzer/model/lock_turns.h"
#include "analyzer/model/parameters.h"
#include "analyzer/model/relevance.h"
#include "analyzer/model/shared_order.h"
#include "analyzer/model/uniformity.h"
#include "ptx/read_only.h"
#include "report/assumptions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

class Builder {
public:
  Builder(const KernelCode& code, KernelState& state) : code(code), state(state) {}

  KernelModel build(const Knowledge& known) {
    for (const std::string& assumption : code.assumptions) state.assume(assumption);
    setUpShape(state);
    findRelevant(state);
    prime(state, known);
    state.knowsWritten = true;
    state.setCut(Cut::Block);
    Execution whole(state, nextRun++, false);
    whole.fromEntry();
    addFlags(state, whole);
    addLockTurns(state, whole);
    addPhasedBarriers(whole);
    state.model.waits = !whole.waitingLoops.empty();
    state.model.blockPhases = phases(whole);
    addOwnCopies(whole);
    addReadOnlyLoads(whole);
    addSharedOrder(state, whole);
    addBarrierControls(state, whole, BarrierKind::Block);
    addBarrierControls(state, whole, BarrierKind::Grid);
    if (has(BarrierKind::Grid))
      addGridPhases();
    else
      state.model.gridPhases.push_back(phaseOf("kernel entry", code.kernel->where, whole));
    if (known.hasGroups) addGroupPhases();
    if (has(BarrierKind::Lanes)) addLanePhases();
    if (has(BarrierKind::Warp) || has(BarrierKind::Lanes)) addWarpPhases();
    if (any_of(instructions(*code.function),
               [](const Instruction& i) { return lanesTogether(i).has_value(); }))
      addLanesTogether();
    settleUniformity(state);
    state.model.subscripts = whole.subscripts;
    state.model.laneFacts.insert(state.laneFacts.begin(), state.laneFacts.end());
    finish(whole);
    return std::move(state.model);
  }

private:
  bool has(BarrierKind kind) const { return hasBarrier(code, kind); }

  /// What they order is noted of the accesses of the runs that follow.
  void addPhasedBarriers(Execution& whole) {
    if (!has(BarrierKind::Named) && !has(BarrierKind::Partial)) return;
    settleUniformity(state);
    state.phased = readPhasedBarriers(state, whole);
    state.model.phaseOrders = state.phased->orders;
  }

  void addGridPhases() {
    state.setCut(Cut::Grid);
    Execution grid(state, nextRun++, false);
    grid.fromEntry();
    state.model.gridPhases = phases(grid);
  }

  void addGroupPhases() {
    state.setCut(Cut::Named);
    Execution groups(state, nextRun++, false);
    groups.fromEntry();
    state.model.groupPhases = phases(groups);
    addBarrierControls(state, groups, BarrierKind::Named);
    settleUniformity(state);
    state.model.groups = barrierGroups(state, groups);
    if (state.model.groups.empty())
      state.gap(&state.function.getEntryBlock().front(), "who comes to its named barriers is not followed");
  }

  void addLanePhases() {
    state.setCut(Cut::Lanes);
    Execution lanes(state, nextRun++, false);
    lanes.fromEntry();
    state.model.lanePhases = phases(lanes);
    addBarrierControls(state, lanes, BarrierKind::Lanes);
    addLaneMasks(lanes);
  }

  void addWarpPhases() {
    state.setCut(Cut::Warp);
    Execution warp(state, nextRun++, false);
    warp.fromEntry();
    state.model.warpPhases = phases(warp);
    addBarrierControls(state, warp, BarrierKind::Warp);
  }

  void addLanesTogether() {
    state.setCut(Cut::Together);
    Execution together(state, nextRun++, false);
    together.fromEntry();
    addTogetherControls(state, together);
    addShuffleSources(state, together);
  }

  Phase phaseOf(const std::string& entry, const Location& where, const Execution& run) {
    Phase phase;
    phase.entry = entry;
    phase.where = where;
    for (const RunAccess& access : run.accesses) phase.accesses.push_back(access.access);
    return phase;
  }

  std::vector<Phase> phases(const Execution& whole) {
    std::vector<Phase> result;
    Execution first(state, nextRun++, true);
    first.fromEntry();
    result.push_back(phaseOf("kernel entry", code.kernel->where, first));
    std::vector<const BasicBlock*> starts;
    for (auto& block : state.function)
      if (whole.barrierConditions.count(&block)) starts.push_back(&block);
    for (const BasicBlock* barrier : starts) {
      Expr condition = whole.barrierConditions.at(barrier);
      if (isFalse(condition)) continue;
      Execution run(state, nextRun++, true, &whole);
      run.fromBarrier(barrier, condition);
      const Instruction& instruction = *barrier->getFirstNonPHIOrDbg();
      result.push_back(phaseOf("barrier at " + state.lineText(instruction), locationOf(instruction), run));
    }
    return result;
  }

  /// What a thread accesses while copies may be under way that it has started.
  void addOwnCopies(const Execution& whole) {
    for (auto& [instruction, copies] : state.asyncCopies.besides())
      for (const RunAccess& access : whole.accesses) {
        if (access.instruction != instruction) continue;
        for (const CopyUnderWay& copy : copies)
          for (const RunAccess& part : whole.accesses) {
            const bool isMet = part.instruction == copy.copy && part.access.object == access.access.object;
            if (!isMet || (part.access.kind == AccessKind::Read && access.access.kind == AccessKind::Read))
              continue;
            if (auto earlier = whole.earlier(part, copy, instruction->getParent())) {
              earlier->condition = state.exprs.logicalAnd(earlier->condition, whole.inRound(copy));
              state.model.ownCopies.push_back({std::move(*earlier), access.access});
            } else
              state.gap(copy.copy, "how long this asynchronous copy runs is not followed", true, false,
                        false);
          }
      }
  }

  /// Loads through the read-only cache of what the kernel writes: no barrier orders them behind it.
  void addReadOnlyLoads(const Execution& whole) {
    for (const RunAccess& read : whole.accesses) {
      if (read.access.kind != AccessKind::Read || !isReadOnlyLoad(*read.instruction)) continue;
      const bool isWritten = any_of(whole.accesses, [&](const RunAccess& write) {
        return write.access.kind != AccessKind::Read && write.access.object == read.access.object;
      });
      if (isWritten)
        state.gap(read.instruction,
                  "`" + state.objects[read.access.object].name +
                      "` is read through the read-only cache and written by the same kernel",
                  true, false, false);
    }
  }

  static bool isReadOnlyLoad(const Instruction& instruction) {
    if (auto* load = dyn_cast<LoadInst>(&instruction)) return ptx::isReadOnly(*load);
    auto* call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call) return false;
    const StringRef name = call->getCalledFunction()->getName();
    return name.starts_with("llvm.nvvm.ldg.global.") || name.starts_with("llvm.nvvm.ldu.global.");
  }

  /// The masks as functions of the thread; of another kind, or several, they are approximate: who is ordered
  /// by way of a third lane is not followed.
  void addLaneMasks(Execution& lanes) {
    SetVector<Expr> masks;
    for (const BasicBlock& block : state.function)
      if (lanes.barrierConditions.count(&block))
        if (const Value* mask = barrierOf(*block.getFirstNonPHIOrDbg()).mask) masks.insert(lanes.value(mask));
    for (Expr mask : masks) {
      bool ofThread = !anyNode(mask, [](Expr n) {
        return n->op == Op::Apply ||
               (n->op == Op::Symbol && n->symbol->kind != SymbolKind::ThreadIdx &&
                n->symbol->kind != SymbolKind::BlockDim && n->symbol->kind != SymbolKind::Parameter);
      });
      if ((!ofThread || masks.size() > 1) && !state.model.laneDoubt) {
        Symbol* doubt =
            state.symbols.plain("lanes ordered in ways not followed", 1, SymbolKind::Unknown, 0, 1);
        doubt->varies = Varies::Never;
        doubt->exact = false;
        doubt->cause = {CauseKind::Order, "the barriers of some lanes, which may order threads"};
        state.model.laneDoubt = state.exprs.of(doubt);
      }
      state.model.laneMasks.push_back(mask);
    }
  }

  /// What the values of a loop are made from, and what they are in the first round.
  void addLoopValues(const LoopRecord& record) {
    if (record.counter && record.exitCounter && record.counter != record.exitCounter)
      state.model.firstExits[record.exitCounter] = {state.exprs.of(record.counter),
                                                    state.exprs.constant(record.exitCounter->width, 0)};
    for (const LoopRecord::Open& open : record.open)
      for (const Symbol* symbol : {open.inside, open.after})
        for (Expr part : {open.start, open.latch})
          if (symbol && part) state.model.madeFrom[symbol].push_back(part);
    for (const auto& [inner, last] : record.renamed)
      state.model.madeFrom[last].push_back(state.exprs.of(inner));
    for (const LoopRecord::Open& open : record.open)
      if (open.inside && open.start && open.start != open.latch &&
          open.start->width == open.inside->width) { // else a guard's condition
        state.model.firstValues[open.inside] = open.start;
        if (open.after) state.model.firstExits[open.after] = {state.exprs.of(open.inside), open.start};
      }
  }

  void finish(const Execution& whole) {
    state.boundCounts(whole);
    state.boundTickets();
    state.boundSharedTickets();
    state.checkStarts();
    if (hangsOnGridSize(state.model)) state.assume(kFewThreads);
    addComparedArrays(state);
    if (overlapMatters(state)) state.assume(kPointersApart);
    if (variablesMatter(state))
      state.assume("memory of the pointer parameters " + std::string(kReachedApart));
    if (state.model.readsTextures && any_of(state.written, [&](unsigned object) {
          return state.objects[object].space == MemorySpace::Global;
        }))
      state.assume("what textures show " + std::string(kReachedApart));
    state.model.ordersByPtx = ordersByPtx(state.function);
    for (const LoopRecord& record : state.loops) addLoopValues(record);
    state.model.objects = state.objects.all();
    for (MemoryObject& object : state.model.objects) object.written = state.isWritten(object.id);
  }

  const KernelCode& code;
  KernelState& state;
  unsigned nextRun = 1;
};

} // namespace

KernelModel buildModel(ExprContext& exprs, const PreparedModule& prepared, const KernelCode& code,
                       const Facts& facts, const LaunchCase& launch) {
  const Knowledge known = learnAbout(prepared, code, facts, launch);
  KernelState state(exprs, prepared, code, facts, launch);
  return Builder(code, state).build(known);
}

} // namespace kcheck::analyzer
