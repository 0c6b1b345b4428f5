// Each thing is learnt by running the kernel on expressions of its own, which are thrown away.
#include "analyzer/model/learning.h"

#include "analyzer/model/barrier_groups.h"
#include "analyzer/model/execution.h"
#include "analyzer/model/flags.h"
#include "analyzer/model/handing_on.h"
#include "analyzer/model/parameters.h"
#include "analyzer/model/relevance.h"
#include "analyzer/model/uniformity.h"
#include "analyzer/model/unstable_loads.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

bool hasBarrier(const KernelCode& code, BarrierKind kind) {
  for (auto& block : *code.function)
    if (barrierOf(*block.getFirstNonPHIOrDbg()).kind == kind) return true;
  return false;
}

namespace {

class Learner {
public:
  Learner(const PreparedModule& prepared, const KernelCode& code, const Facts& facts,
          const LaunchCase& launch)
      : prepared(prepared), code(code), facts(facts), launch(launch) {}

  Knowledge run() {
    Knowledge known;
    learn(known);
    relearn(known); // who waits for a lock waits for no signal: now they are known
    if (learnOnes(known)) relearn(known);
    learnFlags(known);
    learnHandingOn(known);
    if (!known.handedOn.empty() || !known.arriving.empty()) learnFlags(known);
    const bool hasOthers = hasBarrier(code, BarrierKind::Lanes) || hasBarrier(code, BarrierKind::Partial);
    known.hasGroups = hasBarrier(code, BarrierKind::Named) && !hasOthers && comeInGroups(known);
    return known;
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
    const auto placesBefore = known.pointerPlaces;
    for (const auto& [table, places] : state.pointerPlaces)
      known.pointerPlaces[table].insert(places.begin(), places.end());
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
    return size() != before || !sameUpdates || known.pointerPlaces != placesBefore;
  }

  void relearn(Knowledge& known) {
    known.polled.clear();
    known.afterWaiting.clear();
    known.synchronizingObjects.clear();
    for (unsigned round = 0; round < 4; ++round)
      if (!learn(known)) break;
  }

  /// Who comes where alone, for the locks that one thread takes for its block.
  bool learnOnes(Knowledge& known) {
    ExprContext scratch;
    if (KernelState(scratch, prepared, code, facts, launch).sections.empty()) return false;
    return inScratch(known, Cut::Block, [&](KernelState& state, const Execution& run) {
      settleUniformity(state);
      known.ones = findOnes(state, run);
      return !known.ones.empty();
    });
  }

  /// Runs the kernel with what is known of memory by now, for what one thread does for all: until loads and
  /// arrivals bear each other out. Then what may order threads is found anew without them.
  void learnHandingOn(Knowledge& known) {
    constexpr unsigned kMostRounds = 6;
    bool settled = !mayHandOn();
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
      if (known.handedOn.empty() && known.arriving.empty()) break;
    }
    if (!settled) {
      known.handedOn.clear();
      known.arriving.clear();
    }
    const bool doForAll = !known.handedOn.empty() || !known.arriving.empty();
    if (!doForAll) return learnLaneStores(known);
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

  /// What one lane has drawn for its warp orders nobody by where it is stored, if all that read it there are
  /// known to have just that.
  void learnLaneStores(Knowledge& known) {
    inScratch(known, Cut::Block, [&](KernelState& state, const Execution& run) {
      for (const auto& [store, loads] : state.laneStores.all()) {
        if (!std::ranges::includes(state.storedByLanes, loads)) continue;
        for (const RunAccess& access : run.accesses)
          if (access.instruction == store) known.synchronizingObjects.erase(access.access.object);
      }
      return true;
    });
  }

  void learnFlags(Knowledge& known) {
    ExprContext scratch;
    if (KernelState(scratch, prepared, code, facts, launch).sightings.all().empty()) return;
    inScratch(known, Cut::Block, [&](KernelState& state, Execution& run) {
      settleUniformity(state);
      known.flags = findFlags(state, run);
      known.commonLooks = findCommonLooks(state, run);
      return true;
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

  const PreparedModule& prepared;
  const KernelCode& code;
  const Facts& facts;
  const LaunchCase& launch;
};

} // namespace

Knowledge learnAbout(const PreparedModule& prepared, const KernelCode& code, const Facts& facts,
                     const LaunchCase& launch) {
  return Learner(prepared, code, facts, launch).run();
}

} // namespace kcheck::analyzer
