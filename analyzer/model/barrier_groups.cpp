// Sound where each barrier is met by just as many threads as it waits for, whole warps, always the same ones,
// and any two barriers by the same or by quite other threads: then nobody is ordered by way of a third.
#include "analyzer/model/barrier_groups.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::int64_t kLanes = 32, kMostThreads = 1024;

bool isOfThread(Expr e) {
  return !anyNode(e, [](Expr n) {
    return n->op == Op::Apply || (n->op == Op::Symbol && n->symbol->kind != SymbolKind::ThreadIdx);
  });
}

bool isUniform(Expr e) {
  return !anyNode(e, [](Expr n) {
    return (n->op == Op::Symbol && n->symbol->varies == Varies::ByThread) ||
           (n->op == Op::Apply && n->function->varies == Varies::ByThread);
  });
}

struct Group {
  std::int64_t name = 0;
  std::vector<bool> threads;
};

class Groups {
public:
  Groups(KernelState& state, Execution& run) : state(state), exprs(state.exprs), run(run) {}

  std::vector<Expr> read() {
    for (Expr extent : state.model.blockDim) {
      if (!isConst(extent)) return {};
      total *= extent->value;
    }
    if (total <= 0 || total > kMostThreads || total % kLanes != 0) return {};
    std::vector<Expr> result;
    for (auto& [block, condition] : run.barrierConditions) {
      const Barrier barrier = barrierOf(*block->getFirstNonPHIOrDbg());
      if (barrier.kind != BarrierKind::Named) continue;
      Expr named = nameAt(*block, barrier, condition);
      if (!named || !addGroups(named, barrier.threads ? barrier.threads : total)) return {};
      result.push_back(named);
    }
    return result;
  }

private:
  /// The name, and one, for the threads that come; null where it hangs on more than the thread's place who
  /// does.
  Expr nameAt(const BasicBlock& block, const Barrier& barrier, Expr condition) {
    std::vector<Expr> ofThread;
    for (Expr part : conjunctsOf(condition)) {
      if (isTrue(part)) continue;
      if (isOfThread(part))
        ofThread.push_back(part);
      else if (!isUniform(part))
        return nullptr;
    }
    // Who does not come to the barrier in a loop stays out of the loop.
    for (const Loop* loop = state.loopInfo.getLoopFor(&block); loop; loop = loop->getParentLoop()) {
      const std::vector<Expr> entering = conjunctsOf(run.loopEntries.at(loop));
      for (Expr part : ofThread)
        if (std::find(entering.begin(), entering.end(), part) == entering.end()) return nullptr;
    }
    Expr name = barrier.name ? run.value(barrier.name) : exprs.constant(32, barrier.number);
    if (name->width != 32 || !isOfThread(name)) return nullptr;
    Expr comes = exprs.boolean(true);
    for (Expr part : ofThread) comes = exprs.logicalAnd(comes, part);
    return exprs.ite(comes, exprs.add(name, exprs.constant(32, 1)), exprs.constant(32, 0));
  }

  bool addGroups(Expr named, std::int64_t count) {
    std::map<std::int64_t, std::vector<bool>> comers;
    for (std::int64_t thread = 0; thread < total; ++thread) {
      Substitution at(exprs);
      std::int64_t rest = thread;
      for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t extent = state.model.blockDim[axis]->value;
        if (!isConst(state.model.threadIdx[axis]))
          at.set(state.model.threadIdx[axis], exprs.constant(32, rest % extent));
        rest /= extent;
      }
      Expr name = at(named);
      if (!isConst(name)) return false;
      if (name->value == 0) continue;
      auto& threads = comers[name->value];
      threads.resize(std::size_t(total));
      threads[std::size_t(thread)] = true;
    }
    for (auto& [name, threads] : comers) {
      if (std::count(threads.begin(), threads.end(), true) != count) return false;
      for (std::int64_t thread = 0; thread < total; ++thread)
        if (threads[std::size_t(thread)] != threads[std::size_t(thread / kLanes * kLanes)]) return false;
      const bool areAll = count == total;
      if (name == 1 && !areAll) return false; // the barrier that __syncthreads uses
      for (const Group& other : groups) {
        if (other.threads == threads) continue;
        const bool areApart = std::equal(threads.begin(), threads.end(), other.threads.begin(),
                                         [](bool x, bool y) { return !(x && y); });
        if (!areApart || other.name == name) return false;
      }
      groups.push_back({name, threads});
    }
    return true;
  }

  KernelState& state;
  ExprContext& exprs;
  Execution& run;
  std::int64_t total = 1;
  std::vector<Group> groups;
};

} // namespace

std::vector<Expr> barrierGroups(KernelState& state, Execution& run) { return Groups(state, run).read(); }

} // namespace kcheck::analyzer
