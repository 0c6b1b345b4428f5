#include "analyzer/model/shared_order.h"

#include "analyzer/model/async_copies.h"

#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::size_t kMostPairs = 20'000;

/// What is reached without a new round of the loops around both ends.
class Ways {
public:
  explicit Ways(const LoopInfo& loops) : loops(loops) {}

  const Loop* common(const BasicBlock* a, const BasicBlock* b) const {
    const Loop* loop = loops.getLoopFor(a);
    while (loop && !loop->contains(b)) loop = loop->getParentLoop();
    return loop;
  }

  bool lead(const BasicBlock* from, const BasicBlock* to, const Loop* within) {
    const auto [entry, isNew] = known.try_emplace({from, within});
    if (isNew) entry->second = reached(from, within);
    return entry->second.contains(to);
  }

private:
  std::set<const BasicBlock*> reached(const BasicBlock* from, const Loop* within) const {
    std::set<const BasicBlock*> seen;
    std::vector<const BasicBlock*> todo{from};
    while (!todo.empty()) {
      const BasicBlock* block = todo.back();
      todo.pop_back();
      for (const BasicBlock* next : successors(block)) {
        bool isNewRound = false;
        for (const Loop* loop = within; loop; loop = loop->getParentLoop())
          isNewRound |= loop->getHeader() == next && loop->contains(block);
        if (!isNewRound && seen.insert(next).second) todo.push_back(next);
      }
    }
    return seen;
  }

  const LoopInfo& loops;
  std::map<std::pair<const BasicBlock*, const Loop*>, std::set<const BasicBlock*>> known;
};

/// Whether who has been at `from` surely comes by the way along which the choice takes the value.
bool surelyTakes(const PHINode& choice, const Value& value, const BasicBlock& from,
                 const PostDominatorTree& ways) {
  for (unsigned i = 0; i < choice.getNumIncomingValues(); ++i) {
    const BasicBlock* by = choice.getIncomingBlock(i);
    if (choice.getIncomingValue(i) == &value && by->getSingleSuccessor() && ways.dominates(by, &from))
      return true;
  }
  return false;
}

/// Follows a value to what depends on it.
bool matters(const Instruction& read, const PostDominatorTree& ways) {
  std::vector<const Instruction*> todo{&read};
  std::set<const Instruction*> seen;
  while (!todo.empty()) {
    const Instruction* value = todo.back();
    todo.pop_back();
    for (const User* user : value->users()) {
      auto* next = cast<Instruction>(user);
      auto* stored = dyn_cast<StoreInst>(next);
      if (stored && isa<AllocaInst>(getUnderlyingObject(stored->getPointerOperand()))) continue;
      auto* choice = dyn_cast<PHINode>(next);
      if (isa<SelectInst>(next) || (choice && !surelyTakes(*choice, *value, *read.getParent(), ways)))
        continue;
      const bool decides =
          isa<StoreInst, BranchInst, SwitchInst, ReturnInst, AtomicRMWInst, AtomicCmpXchgInst>(next) ||
          (isa<CallBase>(next) && next->mayHaveSideEffects());
      if (decides && ways.dominates(next->getParent(), read.getParent())) return true;
      if (!decides && seen.insert(next).second) todo.push_back(next);
    }
  }
  return false;
}

class SharedOrder {
public:
  SharedOrder(KernelState& state, const Execution& whole)
      : state(state), whole(whole), ways(state.loopInfo), after(const_cast<llvm::Function&>(state.function)) {
  }

  void add() {
    for (const RunAccess& access : whole.accesses)
      if (state.objects[access.access.object].space == MemorySpace::Shared) sort(access);
    KernelModel& model = state.model;
    if (reads.size() * writes.size() > kMostPairs) {
      model.sharedDoubt = "there are too many accesses to shared memory";
      return;
    }
    for (const RunAccess* write : writes)
      model.sharedWrites.push_back({write->access, isChange(*write), isPart(*write->instruction)});
    for (const RunAccess* read : reads) {
      SharedRead& one = model.sharedReads.emplace_back();
      one.access = read->access;
      one.matters =
          isa<AtomicRMWInst, AtomicCmpXchgInst>(read->instruction) || matters(*read->instruction, after);
      one.isChange = any_of(writes, [&](const RunAccess* write) { return areChange(*read, *write); });
      for (const RunAccess* write : writes) one.orders.push_back(orderOf(*write, *read));
    }
    for (const auto& [symbol, home] : state.homes)
      if (home.first) model.roundsOf[symbol] = home.first->getHeader();
    for (const Loop* loop : whole.leftByData) model.loopsLeftByData.insert(loop->getHeader());
    for (const auto& [loop, round] : whole.iterations)
      if (round->op == Op::Symbol) model.roundsOf[round->symbol] = loop->getHeader();
  }

private:
  /// It leaves what does not hang on what was there.
  static bool overwrites(const Instruction& instruction) {
    if (isa<StoreInst>(instruction)) return true;
    auto* update = dyn_cast<AtomicRMWInst>(&instruction);
    return update && update->getOperation() == AtomicRMWInst::Xchg;
  }

  /// Of a word that has other bits besides: they are stored as they were found.
  static bool keepsBits(const Instruction& instruction) {
    auto* load = dyn_cast<LoadInst>(&instruction);
    auto* kept = load && load->hasOneUse() ? dyn_cast<BinaryOperator>(*load->user_begin()) : nullptr;
    if (!kept || kept->getOpcode() != Instruction::And || !isa<ConstantInt>(kept->getOperand(1)) ||
        !kept->hasOneUse())
      return false;
    auto* joined = dyn_cast<BinaryOperator>(*kept->user_begin());
    return joined && joined->getOpcode() == Instruction::Or && any_of(joined->users(), [&](const User* user) {
             auto* store = dyn_cast<StoreInst>(user);
             return store && store->getPointerOperand() == load->getPointerOperand();
           });
  }

  /// A field of a word, which leaves those of others as they are.
  static bool isPart(const Instruction& write) {
    auto* store = dyn_cast<StoreInst>(&write);
    auto* joined = store ? dyn_cast<BinaryOperator>(store->getValueOperand()) : nullptr;
    if (!joined || joined->getOpcode() != Instruction::Or) return false;
    return any_of(joined->operands(), [&](const Value* side) {
      auto* kept = dyn_cast<BinaryOperator>(side);
      auto* load = kept ? dyn_cast<LoadInst>(kept->getOperand(0)) : nullptr;
      return load && load->getPointerOperand() == store->getPointerOperand() && keepsBits(*load);
    });
  }

  void sort(const RunAccess& access) {
    if (keepsBits(*access.instruction)) return;
    const bool isUnread = overwrites(*access.instruction) && access.instruction->use_empty();
    if (access.access.kind != AccessKind::Write && !isUnread) reads.push_back(&access);
    if (access.access.stores()) writes.push_back(&access);
  }

  /// The same place is read by the thread on its way to the write: of all that is done there the first thing
  /// is no such write.
  bool isChange(const RunAccess& write) const {
    return any_of(reads, [&](const RunAccess* read) { return areChange(*read, write); });
  }

  bool areChange(const RunAccess& read, const RunAccess& write) const {
    if (read.instruction == write.instruction) return !overwrites(*write.instruction);
    const ModelAccess &r = read.access, &w = write.access;
    return r.object == w.object && r.offset == w.offset && r.size == w.size &&
           state.loopInfo.getLoopFor(read.instruction->getParent()) ==
               state.loopInfo.getLoopFor(write.instruction->getParent()) &&
           state.dominators.dominates(read.instruction, write.instruction) &&
           holdsWherever(r.condition, w.condition);
  }

  /// Buffers that are exchanged are read in one round and written in another.
  static bool holdsWherever(Expr condition, Expr other) {
    const std::vector<Expr> known = conjunctsOf(other);
    return all_of(conjunctsOf(condition), [&](Expr part) { return is_contained(known, part); });
  }

  bool leads(const Instruction& from, const Instruction& to, const Loop* within) {
    const BasicBlock *a = from.getParent(), *b = to.getParent();
    return a == b ? from.comesBefore(&to) : ways.lead(a, b, within);
  }

  WriteOrder orderOf(const RunAccess& write, const RunAccess& read) {
    const Instruction &w = *write.instruction, &r = *read.instruction;
    if (startsCopy(w) || &w == &r) return WriteOrder::Any;
    const Loop* within = ways.common(w.getParent(), r.getParent());
    for (const Loop* loop = within; loop; loop = loop->getParentLoop()) { // not one by one
      const auto round = whole.iterations.find(loop);
      if (round == whole.iterations.end() || round->second->op != Op::Symbol) return WriteOrder::Any;
    }
    if (leads(r, w, within)) return WriteOrder::Any;
    for (const BasicBlock* barrier : state.barrierBlocks)
      if (state.dominators.dominates(barrier, r.getParent()) && barrier != w.getParent() &&
          !ways.lead(barrier, w.getParent(), within))
        return WriteOrder::Before;
    return WriteOrder::OwnBefore;
  }

  KernelState& state;
  const Execution& whole;
  Ways ways;
  PostDominatorTree after;
  std::vector<const RunAccess*> reads, writes;
};

} // namespace

void addSharedOrder(KernelState& state, const Execution& whole) { SharedOrder(state, whole).add(); }

} // namespace kcheck::analyzer
