// The runs that make a kernel's model: a first one to learn what the kernel writes, one from the entry
// through all barriers, and one from each start of a phase.
#include "analyzer/model/model_builder.h"
#include "analyzer/model/apart.h"
#include "analyzer/model/barrier_controls.h"
#include "analyzer/model/barrier_groups.h"
#include "analyzer/model/execution.h"
#include "analyzer/model/handing_on.h"
#include "analyzer/model/knowledge.h"
#include "analyzer/model/parameters.h"
#include "analyzer/model/relevance.h"
#include "analyzer/model/uniformity.h"
#include "analyzer/model/unstable_loads.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

class Builder {
public:
  Builder(const PreparedModule& prepared, const KernelCode& code, const Facts& facts,
          const LaunchCase& launch)
      : prepared(prepared), code(code), facts(facts), launch(launch) {}

  KernelModel build(ExprContext& exprs) {
    Knowledge known;
    learn(known);
    known.polled.clear();
    known.afterWaiting.clear(); // who waits for a lock waits for no signal: now they are known
    known.synchronizingObjects.clear();
    for (unsigned round = 0; round < 4; ++round)
      if (!learn(known)) break;
    learnHandingOn(known);
    const bool hasOthers = has(BarrierKind::Lanes) || has(BarrierKind::Partial);
    known.hasGroups = has(BarrierKind::Named) && !hasOthers && comeInGroups(known);
    KernelState state(exprs, prepared, code, facts, launch);
    setUpShape(state);
    findRelevant(state);
    prime(state, known);
    state.knowsWritten = true;
    state.setCut(Cut::Block);
    Execution whole(state, nextRun++, false);
    whole.fromEntry();
    state.model.waits = !whole.waitingLoops.empty();
    state.model.blockPhases = phases(state, whole);
    addOwnCopies(state, whole);
    addBarrierControls(state, whole, BarrierKind::Block);
    addBarrierControls(state, whole, BarrierKind::Grid);
    if (has(BarrierKind::Grid)) {
      state.setCut(Cut::Grid);
      Execution grid(state, nextRun++, false);
      grid.fromEntry();
      state.model.gridPhases = phases(state, grid);
    } else {
      state.model.gridPhases.push_back(phaseOf(state, "kernel entry", code.kernel->where, whole));
    }
    if (known.hasGroups) {
      state.setCut(Cut::Named);
      Execution groups(state, nextRun++, false);
      groups.fromEntry();
      state.model.groupPhases = phases(state, groups);
      addBarrierControls(state, groups, BarrierKind::Named);
      settleUniformity(state);
      state.model.groups = barrierGroups(state, groups);
      if (state.model.groups.empty())
        state.gap(&state.function.getEntryBlock().front(), "who comes to its named barriers is not followed");
    }
    if (has(BarrierKind::Lanes)) {
      state.setCut(Cut::Lanes);
      Execution lanes(state, nextRun++, false);
      lanes.fromEntry();
      state.model.lanePhases = phases(state, lanes);
      addBarrierControls(state, lanes, BarrierKind::Lanes);
      addLaneMasks(state, lanes);
    }
    if (has(BarrierKind::Warp) || has(BarrierKind::Lanes)) {
      state.setCut(Cut::Warp);
      Execution warp(state, nextRun++, false);
      warp.fromEntry();
      state.model.warpPhases = phases(state, warp);
      addBarrierControls(state, warp, BarrierKind::Warp);
    }
    if (any_of(instructions(*code.function),
               [](const Instruction& i) { return lanesTogether(i).has_value(); })) {
      state.setCut(Cut::Together);
      Execution together(state, nextRun++, false);
      together.fromEntry();
      addTogetherControls(state, together);
    }
    settleUniformity(state);
    finish(state);
    return std::move(state.model);
  }

private:
  /// Runs the kernel once on its own expressions. Returns whether what it learnt changes what is known.
  bool learn(Knowledge& known) {
    ExprContext scratch;
    KernelState state(scratch, prepared, code, facts, launch);
    setUpShape(state);
    findRelevant(state);
    prime(state, known);
    state.setCut(Cut::Block);
    Execution run(state, 0, false);
    run.fromEntry();
    auto size = [&] {
      return known.changedPointerSources.size() + known.fixedParameters.size() +
             known.synchronizingObjects.size() + known.afterWaiting.size() +
             std::size_t(std::count_if(known.objects.begin(), known.objects.end(),
                                       [](auto& entry) { return entry.second.escapes; }));
    };
    std::size_t before = size();
    const bool sameUpdates = known.updates == state.updatesSeen;
    state.objects.unknown();
    known.objects.clear();
    for (unsigned id = 0; id < state.objects.size(); ++id) {
      MemoryObject object = state.objects[id];
      object.symbolicBytes = nullptr; // an expression of this state
      known.objects.push_back({state.objects.keyOf(id), object});
    }
    known.written.clear();
    known.writtenIn.clear();
    known.updates = state.updatesSeen;
    for (const RunAccess& access : run.accesses)
      if (access.access.kind != AccessKind::Read) {
        known.written.insert(access.access.object);
        known.writtenIn[access.instruction->getParent()].insert(access.access.object);
      }
    state.written = known.written;
    for (unsigned source : state.pointerSources)
      if (state.isWritten(source)) known.changedPointerSources.insert(source);
    known.unstable = findUnstable(state, run);
    state.setCut(Cut::Grid);
    known.unstableInGrid = findUnstable(state, run);
    state.setCut(Cut::Block);
    findFixedParameters(state, run, known);
    findWaiting(run, known);
    findLocks(state, run, known);
    findSynchronizing(state, run, known);
    return size() != before || !sameUpdates;
  }

  /// Runs the kernel with what is known of memory by now, for what one thread does for all: until loads and
  /// arrivals bear each other out. Then what may order threads is found anew without them.
  void learnHandingOn(Knowledge& known) {
    if (!mayHandOn()) return;
    constexpr unsigned kMostRounds = 6;
    bool settled = false;
    for (unsigned round = 0; round < kMostRounds && !settled; ++round) {
      settled = !inScratch(known, Cut::Block, [&](KernelState& state, const Execution& run) {
        settleUniformity(state);
        auto loads = confirmBroadcasts(state, run);
        // The last block often hears through a load that it is the last.
        auto arrivals = round == 0   ? candidateArrivals(state, run)
                        : round == 1 ? known.arriving
                                     : confirmArrivals(state, run);
        bool changed = round == 1 || loads != known.handedOn || arrivals != known.arriving;
        known.handedOn = std::move(loads);
        known.arriving = std::move(arrivals);
        return changed;
      });
      if (known.handedOn.empty() && known.arriving.empty()) return;
    }
    if (!settled) {
      known.handedOn.clear();
      known.arriving.clear();
      return;
    }
    known.synchronizingObjects.clear();
    known.afterWaiting.clear();
    bool grows = true;
    for (unsigned round = 0; round < kMostRounds && grows; ++round)
      grows = inScratch(known, Cut::Block, [&](KernelState& state, const Execution& run) {
        std::size_t before = known.synchronizingObjects.size() + known.afterWaiting.size();
        findWaiting(run, known);
        findSynchronizing(state, run, known);
        return known.synchronizingObjects.size() + known.afterWaiting.size() != before;
      });
  }

  /// Whether who comes to each named barrier is as it should be.
  bool comeInGroups(Knowledge known) {
    known.hasGroups = true;
    return inScratch(known, Cut::Named, [&](KernelState& state, Execution& run) {
      settleUniformity(state);
      return !barrierGroups(state, run).empty();
    });
  }

  bool mayHandOn() {
    ExprContext scratch;
    const KernelState state(scratch, prepared, code, facts, launch);
    return !state.broadcasts.all().empty() || !state.arrivals.all().empty();
  }

  /// Runs the kernel on expressions of its own, knowing what is written, and shows the run to `look`.
  template <typename Look> bool inScratch(const Knowledge& known, Cut cut, Look look) {
    ExprContext scratch;
    KernelState state(scratch, prepared, code, facts, launch);
    setUpShape(state);
    findRelevant(state);
    prime(state, known);
    state.knowsWritten = true;
    state.setCut(cut);
    Execution run(state, 0, false);
    run.fromEntry();
    return look(state, run);
  }

  bool has(BarrierKind kind) const {
    for (auto& block : *code.function)
      if (barrierOf(*block.getFirstNonPHIOrDbg()).kind == kind) return true;
    return false;
  }

  Phase phaseOf(KernelState&, const std::string& entry, const Location& where, const Execution& run) {
    Phase phase;
    phase.entry = entry;
    phase.where = where;
    for (const RunAccess& access : run.accesses) phase.accesses.push_back(access.access);
    return phase;
  }

  std::vector<Phase> phases(KernelState& state, const Execution& whole) {
    std::vector<Phase> result;
    Execution first(state, nextRun++, true);
    first.fromEntry();
    result.push_back(phaseOf(state, "kernel entry", code.kernel->where, first));
    std::vector<const BasicBlock*> starts;
    for (auto& block : state.function)
      if (whole.barrierConditions.count(&block)) starts.push_back(&block);
    for (const BasicBlock* barrier : starts) {
      Expr condition = whole.barrierConditions.at(barrier);
      if (isFalse(condition)) continue;
      Execution run(state, nextRun++, true, &whole);
      run.fromBarrier(barrier, condition);
      const Instruction& instruction = *barrier->getFirstNonPHIOrDbg();
      result.push_back(
          phaseOf(state, "barrier at " + state.lineText(instruction), locationOf(instruction), run));
    }
    return result;
  }

  /// What a thread accesses while copies may be under way that it has started.
  void addOwnCopies(KernelState& state, const Execution& whole) {
    for (auto& [instruction, copies] : state.asyncCopies.besides())
      for (const RunAccess& access : whole.accesses) {
        if (access.instruction != instruction) continue;
        for (const CopyUnderWay& copy : copies)
          for (const RunAccess& part : whole.accesses) {
            const bool isMet = part.instruction == copy.copy && part.access.object == access.access.object;
            if (!isMet || (part.access.kind == AccessKind::Read && access.access.kind == AccessKind::Read))
              continue;
            if (auto earlier = whole.earlier(part, copy.rounds, instruction->getParent()))
              state.model.ownCopies.push_back({std::move(*earlier), access.access});
            else
              state.gap(copy.copy, "how long this asynchronous copy runs is not followed", true, false,
                        false);
          }
      }
  }

  /// The masks as functions of the thread; of another kind, or several, they are approximate: who is ordered
  /// by way of a third lane is not followed.
  void addLaneMasks(KernelState& state, Execution& lanes) {
    std::set<Expr> masks;
    for (auto& [block, condition] : lanes.barrierConditions)
      if (const Value* mask = barrierOf(*block->getFirstNonPHIOrDbg()).mask) masks.insert(lanes.value(mask));
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

  void finish(KernelState& state) {
    state.boundCounts();
    state.checkStarts();
    if (overlapMatters(state)) state.assume(kPointersApart);
    if (variablesMatter(state))
      state.assume(std::string("memory of the pointer parameters ") + kReachedApart);
    state.model.ordersByPtx = ordersByPtx(state.function);
    for (const LoopRecord& record : state.loops) {
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
    state.model.objects = state.objects.all();
    for (MemoryObject& object : state.model.objects) object.written = state.isWritten(object.id);
  }

  const PreparedModule& prepared;
  const KernelCode& code;
  const Facts& facts;
  const LaunchCase& launch;
  unsigned nextRun = 1;
};

} // namespace

KernelModel buildModel(ExprContext& exprs, const PreparedModule& prepared, const KernelCode& code,
                       const Facts& facts, const LaunchCase& launch) {
  return Builder(prepared, code, facts, launch).build(exprs);
}

} // namespace kcheck::analyzer
