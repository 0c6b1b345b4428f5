#include "analyzer/model/phased/operations.h"

#include "analyzer/model/loops/periods.h"
#include "analyzer/model/prepare/barrier_objects.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

class Reader {
public:
  Reader(KernelState& state, Execution& run, const Ways& ways) : state(state), run(run), ways(ways) {}

  PhasedOperations read() {
    for (const Instruction& instruction : instructions(state.function)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call && isUnreadOfObject(*call) && run.conditions.count(call->getParent()))
        result.unreadOfObject = call;
      const BarrierKind kind = call ? barrierOf(*call).kind : BarrierKind::None;
      if (kind != BarrierKind::Named && kind != BarrierKind::Partial) continue;
      if (!run.conditions.count(call->getParent())) continue; // nobody comes there
      if (kind == BarrierKind::Named)
        readNamed(*call);
      else if (isOwnCall(*call))
        readOwn(*call);
      else if (!isOfCluster(*call))
        result.unread = call;
    }
    return std::move(result);
  }

private:
  /// Arrivals for several threads, or of such as drop out, and whatever else is left as it was written.
  static bool isUnreadOfObject(const CallInst& call) {
    if (auto* assembly = dyn_cast<InlineAsm>(call.getCalledOperand()))
      return StringRef(assembly->getAsmString()).contains("mbarrier");
    const auto* callee = call.getCalledFunction();
    return callee && callee->getName().starts_with("llvm.nvvm.mbarrier");
  }

  static bool isOfCluster(const CallInst& call) {
    const auto* callee = call.getCalledFunction();
    return callee && callee->getName().contains("barrier.cluster");
  }

  void readNamed(const CallInst& call) {
    const Barrier barrier = barrierOf(call);
    PhasedOperation operation;
    operation.call = &call;
    operation.arrives = operation.waits = true;
    operation.threads = barrier.threads;
    setNumber(operation, barrier.name ? run.value(barrier.name) : state.exprs.constant(32, barrier.number));
    result.all.push_back(std::move(operation));
  }

  void readOwn(const CallInst& call) {
    const StringRef name = call.getCalledFunction()->getName();
    if (name == kTestToken || name == kTestParity) return; // who only looks waits for nothing
    PhasedOperation operation;
    operation.call = &call;
    operation.arrives = name == kArriveAtObject || name == kArriveAtName;
    operation.waits = name == kWaitForToken || name == kWaitForParity;
    if (name == kArriveAtName) {
      auto* threads = dyn_cast<ConstantInt>(call.getArgOperand(1));
      if (!threads) {
        result.unread = &call;
        return;
      }
      operation.threads = threads->getSExtValue();
      setNumber(operation, run.value(call.getArgOperand(0)));
    } else {
      if (name == kWaitForToken) operation.token = dyn_cast<CallInst>(call.getArgOperand(1));
      if (name == kWaitForParity) operation.parity = run.value(call.getArgOperand(1));
      setObject(operation, run.value(call.getArgOperand(0)));
    }
    result.all.push_back(std::move(operation));
  }

  void setNumber(PhasedOperation& operation, Expr number) {
    operation.isOfNumber = true;
    operation.place = number;
    setNames(operation, {}, number);
  }

  void setObject(PhasedOperation& operation, Expr pointer) {
    const auto places = state.objects.places(pointer);
    operation.place = pointer;
    if (places.size() != 1 || !isTrue(places[0].guard) || state.objects[places[0].object].isUnknown ||
        state.objects[places[0].object].space != MemorySpace::Shared)
      return;
    setNames(operation, places[0].object, places[0].offset);
  }

  void setNames(PhasedOperation& operation, std::optional<unsigned> object, Expr number) {
    const Loop* loop = ways.loopOf(*operation.call);
    std::vector<Expr> values{number};
    if (!isConst(number)) {
      const auto round = loop ? run.iterations.find(loop) : run.iterations.end();
      if (round == run.iterations.end() || loop->getParentLoop()) return;
      values = valuesInTurn(state.exprs, number, round->second);
    }
    for (Expr value : values) operation.names.push_back({object, value->value});
  }

  KernelState& state;
  Execution& run;
  const Ways& ways;
  PhasedOperations result;
};

} // namespace

PhasedOperations readPhasedOperations(KernelState& state, Execution& run, const Ways& ways) {
  return Reader(state, run, ways).read();
}

} // namespace kcheck::analyzer
