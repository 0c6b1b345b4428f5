// Barriers that some operation takes in turn belong together; then what was said in the header is checked of
// each, with what it takes from others: that a phase of one is over before some phase of another is.
#include "analyzer/model/phased/phased_barriers.h"

#include "analyzer/model/phased/comers.h"
#include "analyzer/model/phased/objects.h"
#include "analyzer/model/phased/phase_distances.h"
#include "analyzer/model/phased/phased_waits.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

class PhasedReader {
public:
  PhasedReader(KernelState& state, Execution& run)
      : state(state), run(run),
        sharedWays(std::make_shared<Ways>(state.function, state.dominators, state.loopInfo)),
        ways(*sharedWays), operations(readPhasedOperations(state, run, ways)), comers(state, run),
        waits(state, run, ways), distances(ways, state.dominators, rings),
        objects(state, run, ways, comers, operations) {}

  std::shared_ptr<const PhasedBarriers> read() {
    auto result = std::make_shared<PhasedBarriers>(PhasedBarriers{sharedWays, {}, {}, {}});
    gather();
    for (Ring& ring : rings) {
      ring.doubt = doubtOf(ring);
      if (ring.doubt.empty()) ring.doubt = countComers(ring);
      if (ring.doubt.empty()) ring.doubt = findPhases(ring);
      if (ring.doubt.empty()) waits.find(ring, doubts);
    }
    while (dropOvertaken()) {
    }
    for (Ring& ring : rings) {
      if (ring.doubt.empty()) continue;
      for (const auto* list : {&ring.arrivals, &ring.waits})
        for (const PhasedOperation* operation : *list) result->doubts[operation->call] = ring.doubt;
    }
    for (auto& [call, doubt] : doubts) result->doubts[call] = doubt;
    takeSound(*result);
    return result;
  }

private:
  // Which barriers there are.
  void gather() {
    std::map<PhasedName, unsigned> ringOf;
    for (const PhasedOperation& operation : operations.all) {
      if (operation.names.empty()) {
        doubts[operation.call] = "which barrier that is is not followed";
        (operation.isOfNumber ? isNumberOpen : isObjectOpen) = true;
        continue;
      }
      unsigned into = unsigned(rings.size());
      for (const PhasedName& name : operation.names)
        if (auto known = ringOf.find(name); known != ringOf.end()) into = std::min(into, known->second);
      if (into == rings.size()) rings.emplace_back().isNamed = operation.isOfNumber;
      for (const PhasedName& name : operation.names) {
        const auto [known, isNew] = ringOf.try_emplace(name, into);
        if (!isNew && known->second != into) join(ringOf, known->second, into);
      }
      if (operation.arrives) rings[into].arrivals.push_back(&operation);
      if (operation.waits) rings[into].waits.push_back(&operation);
    }
    erase_if(rings, [](const Ring& ring) { return ring.arrivals.empty() && ring.waits.empty(); });
  }

  void join(std::map<PhasedName, unsigned>& ringOf, unsigned from, unsigned into) {
    for (auto& [name, ring] : ringOf)
      if (ring == from) ring = into;
    for (auto list : {&Ring::arrivals, &Ring::waits}) {
      auto &source = rings[from].*list, &target = rings[into].*list;
      target.insert(target.end(), source.begin(), source.end());
      source.clear();
    }
  }

  /// What is against a ring before it is looked at.
  std::string doubtOf(const Ring& ring) {
    if (ring.arrivals.empty()) return "nobody arrives there";
    if (ring.isNamed && operations.unread)
      return "which barrier is meant at " + state.lineText(*operations.unread) + " is not followed";
    if (!ring.isNamed && operations.unreadOfObject)
      return "what is done to a barrier at " + state.lineText(*operations.unreadOfObject) +
             " is not followed";
    if (ring.isNamed ? isNumberOpen : isObjectOpen) return "which barrier is meant elsewhere is not followed";
    for (const PhasedOperation* arrival : ring.arrivals)
      for (const PhasedName& name : arrival->names)
        if (!name.object && name.number == 0) return "it is that of `__syncthreads()`";
    return "";
  }

  // Which phase each arrival is for.
  std::string findPhases(Ring& ring) {
    std::size_t stages = 1;
    for (const PhasedOperation* arrival : ring.arrivals) stages = std::max(stages, arrival->names.size());
    std::set<PhasedName> all;
    for (const auto* list : {&ring.arrivals, &ring.waits})
      for (const PhasedOperation* operation : *list)
        all.insert(operation->names.begin(), operation->names.end());
    if (all.size() != stages) return "its places in turn are not the same everywhere";
    ring.made.stages = std::int64_t(stages);
    ring.order.assign(all.begin(), all.end()); // of several: put in order below
    std::vector<bool> known(stages);
    for (const auto& group : ring.groups)
      for (const PhasedOperation* arrival : ring.arrivals) {
        if (!is_contained(group.arrivals, arrival->call)) continue;
        const auto count = ways.before(*arrival->call, group.arrivals);
        const Loop* loop = ways.loopOf(*arrival->call);
        if (!count || (loop && !ways.isInEveryRound(*arrival->call)))
          return "how often threads arrive before " + state.lineText(*arrival->call) + " is not followed";
        if (stages > 1 && !place(ring, known, *arrival, *count, loop))
          return "in which turn threads arrive at " + state.lineText(*arrival->call) + " is not followed";
      }
    return "";
  }

  /// Writes down at which barriers of the ring the arrival is in turn; false where another one has it
  /// otherwise.
  bool place(Ring& ring, std::vector<bool>& known, const PhasedOperation& arrival, const Count& count,
             const Loop* loop) {
    const std::size_t stages = ring.order.size();
    const std::vector<PhasedName>& names = arrival.names;
    if (loop) {
      const auto round = count.terms.find({Count::Kind::Round, loop});
      if (count.terms.size() != 1 || round == count.terms.end() || round->second != 1) return false;
      if (names.size() != stages) return false;
    } else if (!count.isConstant()) {
      return false;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::size_t at = (std::size_t(count.constant) + i) % stages;
      if (known[at] && ring.order[at] != names[i]) return false;
      known[at] = true;
      ring.order[at] = names[i];
    }
    return true;
  }

  // Who arrives.
  std::string countComers(Ring& ring) {
    std::int64_t counted = 0;
    ring.made.comes = state.exprs.boolean(false);
    for (const PhasedOperation* arrival : ring.arrivals) {
      const BasicBlock& block = *arrival->call->getParent();
      Expr comes = comers.saysComes(block);
      ring.made.arrivals.push_back({arrival->call, comes});
      ring.made.comes = state.exprs.logicalOr(ring.made.comes, comes);
      ring.comers.push_back(comers.of(block));
      if (ring.isNamed && !comers.comeAsWarps(block))
        return "whether whole warps come together at " + state.lineText(*arrival->call) + " is not followed";
      noteJoin(*arrival->call);
    }
    std::map<std::vector<const Instruction*>, std::vector<bool>> groups;
    for (std::int64_t thread = 0; thread < comers.threads(); ++thread) {
      std::vector<const Instruction*> own;
      for (std::size_t i = 0; i < ring.arrivals.size(); ++i)
        if (ring.comers[i][std::size_t(thread)]) own.push_back(ring.arrivals[i]->call);
      if (own.empty()) continue;
      ++counted;
      auto& threads = groups[own];
      threads.resize(std::size_t(comers.threads()));
      threads[std::size_t(thread)] = true;
    }
    for (auto& [arrivals, threads] : groups) ring.groups.push_back({arrivals, threads});
    if (!comers.isShapeKnown()) {
      auto& all = ring.groups.emplace_back();
      for (const PhasedOperation* arrival : ring.arrivals) all.arrivals.push_back(arrival->call);
    }
    return ring.isNamed ? matchNamed(ring, counted) : matchObjects(ring, counted);
  }

  /// Where branches that hang on who the thread is send some to the arrival and others past it.
  void noteJoin(const Instruction& arrival) {
    if (!comers.isShapeKnown()) return;
    const Loop* loop = ways.loopOf(arrival);
    const std::vector<Expr> parts = comers.partsOf(run.conditions.at(arrival.getParent()));
    const auto* node = state.dominators.getNode(arrival.getParent());
    for (node = node->getIDom(); node && state.loopInfo.getLoopFor(node->getBlock()) == loop;
         node = node->getIDom()) {
      const BasicBlock& branch = *node->getBlock();
      if (loop && loop->getHeader() == &branch) return;
      const auto condition = run.conditions.find(&branch);
      if (condition == run.conditions.end()) return;
      const std::vector<Expr> known = comers.partsOf(condition->second);
      const bool hangsOnMore =
          any_of(parts, [&](Expr part) { return !is_contained(known, part) && !Comers::isOfThread(part); });
      if (hangsOnMore) return;
      if (branch.getSingleSuccessor()) continue;
      if (const BasicBlock* join = ways.joinBehind(branch, arrival)) {
        ways.setJoin(arrival, *join);
        return;
      }
    }
  }

  static std::string mismatch(std::int64_t threads, std::int64_t counted) {
    return "it counts " + std::to_string(threads) + " threads, and " + std::to_string(counted) +
           " may arrive";
  }

  std::string matchNamed(const Ring& ring, std::int64_t counted) {
    for (const auto* list : {&ring.arrivals, &ring.waits})
      for (const PhasedOperation* operation : *list) {
        if (!comers.isShapeKnown()) {
          if (operation->threads != 0) return "how many threads the block has is not known";
          continue;
        }
        const std::int64_t threads = operation->threads ? operation->threads : comers.threads();
        if (threads != counted) return mismatch(threads, counted);
      }
    return "";
  }

  std::string matchObjects(const Ring& ring, std::int64_t counted) {
    Expr all = state.exprs.constant(32, 1);
    for (Expr extent : state.model.blockDim) all = state.exprs.mul(all, extent, NoSignedWrap);
    const auto isAll = [&](Expr threads) {
      Expr product = state.exprs.constant(32, 1);
      if (threads == all) return true;
      for (Expr extent : state.model.blockDim) product = state.exprs.mul(product, extent);
      return threads == product ||
             (isConst(state.model.blockDim[1], 1) && isConst(state.model.blockDim[2], 1) &&
              threads == state.model.blockDim[0]);
    };
    for (const PhasedOperation* arrival : ring.arrivals)
      for (const PhasedName& name : arrival->names) {
        const auto [threads, doubt] = objects.at(name);
        if (!threads) return doubt;
        if (!comers.isShapeKnown() && !isAll(threads)) return "how many threads the block has is not known";
        if (comers.isShapeKnown() && !isConst(threads)) return "how many threads it counts is not known";
        if (comers.isShapeKnown() && threads->value != counted) return mismatch(threads->value, counted);
      }
    return "";
  }

  /// A thread must know the phase over for which it arrived last at the same barrier.
  bool dropOvertaken() {
    const Distances between = distances.all();
    for (std::size_t i = 0; i < rings.size(); ++i) {
      Ring& ring = rings[i];
      if (!ring.doubt.empty()) continue;
      for (const auto& own : ring.groups)
        for (const Instruction* arrival : own.arrivals)
          if (!distances.isBehindLast(i, own, *arrival, between)) {
            ring.doubt =
                "threads may arrive at " + state.lineText(*arrival) + " again before its phase is over";
            return true;
          }
    }
    return false;
  }

  void takeSound(PhasedBarriers& result) {
    const Distances between = distances.all();
    std::vector<unsigned> number(rings.size());
    for (std::size_t i = 0; i < rings.size(); ++i) {
      if (!rings[i].doubt.empty()) continue;
      number[i] = unsigned(result.barriers.size());
      result.barriers.push_back(rings[i].made);
    }
    for (std::size_t i = 0; i < rings.size(); ++i)
      for (std::size_t j = 0; j < rings.size(); ++j)
        if (between[i][j] && rings[i].doubt.empty() && rings[j].doubt.empty())
          result.orders.push_back({number[i], number[j], *between[i][j]});
  }

  KernelState& state;
  Execution& run;
  std::shared_ptr<Ways> sharedWays;
  Ways& ways;
  PhasedOperations operations;
  Comers comers;
  PhasedWaits waits;
  PhaseDistances distances;
  BarrierObjects objects;
  std::vector<Ring> rings;
  std::map<const Instruction*, std::string> doubts;
  bool isNumberOpen = false, isObjectOpen = false;
};

} // namespace

std::shared_ptr<const PhasedBarriers> readPhasedBarriers(KernelState& state, Execution& run) {
  return PhasedReader(state, run).read();
}

} // namespace kcheck::analyzer
