// Loops that wait for another thread: an exit depends on memory, and nothing in the loop itself brings the
// exit nearer. Simulated threads are not preempted, so such a loop must let others run; it gets a Yield on
// its back edges. A loop that is taken for one without need only runs slower. Where updates by the loop
// itself look like progress, and where it looks at one place after the other, it lets others run now and
// then: it may wait all the same.
#include "instrument/pass/analyses.h"
#include "instrument/pass/hooks.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <utility>

namespace kcheck::instrument {

namespace {

/// What the exit condition of a loop is made of.
struct ExitSlice {
  bool readsMemory = false;  ///< of other threads, by a plain access
  bool synchronises = false; ///< by a volatile or atomic access that does not itself change the value
  bool takesTickets = false; ///< by an atomic update, which is progress
  bool counts = false;       ///< a variable that the loop advances by a constant
  bool countsPlaces = false; ///< such a variable, as the place of what it reads alone
  bool givesUp = false;      ///< it counts, or may, how often the loop has gone round
};

/// The same in every round, though it may be worked out anew: `gridDim.x * blockDim.x` stands inside its loop
/// here.
bool isFixed(const llvm::Value* value, const llvm::Loop& loop, unsigned depth = 0) {
  constexpr unsigned kDeepest = 8;
  if (loop.isLoopInvariant(value)) return true;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || llvm::isa<llvm::PHINode>(instruction) || depth == kDeepest) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(instruction)) {
    const llvm::Function* callee = call->getCalledFunction();
    return callee && callee->getName().starts_with("llvm.nvvm.read.ptx.sreg.") &&
           !callee->getName().contains("clock") && !callee->getName().contains("timer");
  }
  if (instruction->mayReadOrWriteMemory()) return false;
  return llvm::all_of(instruction->operands(),
                      [&](const llvm::Use& operand) { return isFixed(operand, loop, depth + 1); });
}

/// Also where nobody has worked it out yet: inlined code shifts constants.
bool isZero(llvm::Value* value, const llvm::DataLayout& layout) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  llvm::Constant* constant = instruction ? llvm::ConstantFoldInstruction(instruction, layout)
                                         : llvm::dyn_cast<llvm::Constant>(value);
  return constant && constant->isNullValue();
}

bool isCounter(const llvm::PHINode& phi, const llvm::Loop& loop) {
  if (phi.getParent() != loop.getHeader()) return false;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    if (!loop.contains(phi.getIncomingBlock(i))) continue;
    const llvm::Value* next = phi.getIncomingValue(i);
    if (const auto* step = llvm::dyn_cast<llvm::BinaryOperator>(next)) {
      if (step->getOperand(0) != &phi && step->getOperand(1) != &phi) return false;
      const llvm::Value* by = step->getOperand(step->getOperand(0) == &phi ? 1 : 0);
      if (!isFixed(by, loop)) return false;
      continue;
    }
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(next);
    if (!address || address->getPointerOperand() != &phi) return false;
  }
  return true;
}

/// The same where some ways round may leave it as it was.
bool mayCount(llvm::PHINode& number, const llvm::Loop& loop) {
  if (number.getParent() != loop.getHeader() || !number.getType()->isIntegerTy()) return false;
  bool steps = false;
  std::set<llvm::Value*> visited{&number};
  std::vector<llvm::Value*> next;
  for (unsigned i = 0; i < number.getNumIncomingValues(); ++i)
    if (loop.contains(number.getIncomingBlock(i))) next.push_back(number.getIncomingValue(i));
  while (!next.empty()) {
    llvm::Value* value = next.back();
    next.pop_back();
    if (!visited.insert(value).second) continue;
    auto* step = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(value); phi && loop.contains(phi)) {
      next.insert(next.end(), phi->op_begin(), phi->op_end());
    } else if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(value)) {
      next.insert(next.end(), {choice->getTrueValue(), choice->getFalseValue()});
    } else if (step && step->getOperand(0) == &number && isFixed(step->getOperand(1), loop)) {
      steps = true;
    } else {
      return false;
    }
  }
  return steps;
}

class SliceBuilder {
public:
  explicit SliceBuilder(const llvm::Loop& loop) : loop(loop) {}

  /// A volatile or atomic read that an exit depends on.
  struct Awaited {
    llvm::Instruction* read;
    bool probes; ///< abi::SiteProbes
  };
  /// Of the exits looked at so far.
  const std::vector<Awaited>& awaited() const { return reads; }

  ExitSlice of(llvm::Value* condition) {
    slice = {};
    seen.clear();
    places.clear();
    add(condition);
    goOver();
    slice.countsPlaces = !slice.counts;
    const bool givesUp = slice.givesUp; // not by where it looks
    while (!places.empty()) {
      for (llvm::Value* place : std::exchange(places, {})) add(place);
      goOver();
    }
    slice.countsPlaces &= slice.counts;
    slice.givesUp = givesUp;
    return slice;
  }

  /// Looks as well at what leads to an exit: `while (a != b || a & 1)` leaves by its second question alone,
  /// and waits for the first one's answer too.
  void addBranchesTo(llvm::BasicBlock* exit) {
    for (llvm::BasicBlock* block : loop.blocks()) {
      auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      if (!branch || !branch->isConditional() || block == exit) continue;
      if (leadsTo(branch->getSuccessor(0), exit) != leadsTo(branch->getSuccessor(1), exit))
        of(branch->getCondition());
    }
  }

private:
  const llvm::Loop& loop;
  ExitSlice slice;
  std::set<llvm::Value*> seen;
  std::vector<llvm::Instruction*> work;
  std::vector<Awaited> reads;
  std::vector<llvm::Value*> places; ///< where the exits' loads read

  static const llvm::Value* placeOf(const llvm::Instruction& access) {
    if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&access)) return update->getPointerOperand();
    return llvm::getLoadStorePointerOperand(&access);
  }

  void goOver() {
    while (!work.empty()) {
      llvm::Instruction* next = work.back();
      work.pop_back();
      classify(*next);
      const llvm::Value* place = placeOf(*next);
      for (llvm::Value* operand : next->operands())
        if (operand == place)
          places.push_back(operand);
        else
          add(operand);
    }
  }

  /// In the same round.
  bool leadsTo(llvm::BasicBlock* from, const llvm::BasicBlock* to) const {
    std::set<llvm::BasicBlock*> visited;
    std::vector<llvm::BasicBlock*> blocks{from};
    while (!blocks.empty()) {
      llvm::BasicBlock* next = blocks.back();
      blocks.pop_back();
      if (next == loop.getHeader() || !loop.contains(next) || !visited.insert(next).second) continue;
      if (next == to) return true;
      for (llvm::BasicBlock* after : llvm::successors(next)) blocks.push_back(after);
    }
    return false;
  }

  void add(llvm::Value* value) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction && loop.contains(instruction) && seen.insert(instruction).second)
      work.push_back(instruction);
  }

  void classify(llvm::Instruction& instruction) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      if (isCounter(*phi, loop)) slice.counts = true;
      if (mayCount(*phi, loop)) slice.givesUp = true;
      // Which value a phi takes is decided by the branches inside the loop that lead here. At the header
      // there is nothing to decide where all rounds end in one place: what the value is there is up to its
      // operand.
      if (phi->getParent() == loop.getHeader() && waysRound(*phi) < 2) return;
      for (llvm::BasicBlock* incoming : phi->blocks()) addDeciders(incoming);
    } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (!isOthers(load->getPointerOperand())) return;
      (load->isSimple() ? slice.readsMemory : slice.synchronises) = true;
      if (!load->isSimple()) await(*load, load->getPointerOperand());
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      const bool keeps = isZero(update->getValOperand(), update->getModule()->getDataLayout());
      bool adds = update->getOperation() == llvm::AtomicRMWInst::Add ||
                  update->getOperation() == llvm::AtomicRMWInst::Sub;
      (adds && !keeps ? slice.takesTickets : slice.synchronises) = true;
      if (slice.synchronises) await(*update, update->getPointerOperand());
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      slice.synchronises = true;
      await(*exchange, exchange->getPointerOperand());
    } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      if (!call->doesNotAccessMemory() && !isWaitMarker(*call)) slice.readsMemory = true;
    }
  }

  /// A read that leads to where the next round reads (`v = parent[v]`) follows a chain: it waits for nobody.
  void await(llvm::Instruction& read, llvm::Value* address) {
    const bool isUpdate = llvm::isa<llvm::AtomicCmpXchgInst, llvm::AtomicRMWInst>(read);
    bool probes = false;
    std::set<llvm::Value*> visited;
    std::vector<llvm::Value*> sources{address};
    while (!sources.empty()) {
      auto* next = llvm::dyn_cast<llvm::Instruction>(sources.back());
      sources.pop_back();
      if (!next || !loop.contains(next) || !visited.insert(next).second) continue;
      if (next == &read) return;
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(next)) probes |= isUpdate && goesOn(*phi);
      const unsigned first = llvm::isa<llvm::SelectInst>(next) ? 1 : 0; // not what decides
      for (unsigned i = first; i < next->getNumOperands(); ++i) sources.push_back(next->getOperand(i));
    }
    reads.push_back({&read, probes});
  }

  /// The number is another one in each round: none leaves it as it was.
  bool goesOn(llvm::PHINode& number) const {
    if (number.getParent() != loop.getHeader()) return false;
    std::set<llvm::Value*> visited;
    std::vector<llvm::Value*> next;
    for (unsigned i = 0; i < number.getNumIncomingValues(); ++i)
      if (loop.contains(number.getIncomingBlock(i))) next.push_back(number.getIncomingValue(i));
    while (!next.empty()) {
      llvm::Value* value = next.back();
      next.pop_back();
      if (value == &number) return false;
      if (!visited.insert(value).second) continue;
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(value))
        next.insert(next.end(), phi->op_begin(), phi->op_end());
      else if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(value))
        next.insert(next.end(), {choice->getTrueValue(), choice->getFalseValue()});
    }
    return true;
  }

  long waysRound(const llvm::PHINode& phi) const {
    return llvm::count_if(phi.blocks(), [&](llvm::BasicBlock* from) { return loop.contains(from); });
  }

  static bool isOthers(llvm::Value* address) {
    auto* one = llvm::ConstantInt::get(llvm::Type::getInt64Ty(address->getContext()), 1);
    return localityOf(address, one).kind == Locality::Elsewhere;
  }

  void addDeciders(llvm::BasicBlock* block) {
    std::set<llvm::BasicBlock*> visited;
    std::vector<llvm::BasicBlock*> blocks{block};
    while (!blocks.empty()) {
      llvm::BasicBlock* next = blocks.back();
      blocks.pop_back();
      if (!loop.contains(next) || !visited.insert(next).second) continue;
      if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(next->getTerminator()))
        if (branch->isConditional()) add(branch->getCondition());
      if (next != loop.getHeader())
        for (llvm::BasicBlock* before : llvm::predecessors(next)) blocks.push_back(before);
    }
  }
};

/// Tells the runtime which reads wait for another thread: their hooks stand before them.
void markPolled(DeviceCode& code, const std::vector<SliceBuilder::Awaited>& reads) {
  for (const auto& [read, probes] : reads)
    for (llvm::Instruction* before = read->getPrevNode(); before; before = before->getPrevNode()) {
      if (before->mayReadOrWriteMemory() && !llvm::isa<llvm::CallInst>(before)) break;
      if (!isCallTo(*before, Call::kcRead) && !isCallTo(*before, Call::kcAtomic)) continue;
      auto* site = llvm::cast<llvm::ConstantInt>(llvm::cast<llvm::CallInst>(before)->getArgOperand(3));
      std::uint16_t& flags = code.sites[std::uint32_t(site->getZExtValue())].flags;
      if (!(flags & abi::SitePolled)) flags |= abi::SiteProbes;
      flags |= abi::SitePolled;
      if (!probes) flags &= static_cast<std::uint16_t>(~abi::SiteProbes); // in the innermost loop, say
      break;
    }
}

enum class Waits {
  No,
  Perhaps,   ///< goes from place to place, or counts
  ForDraws,  ///< perhaps; what it draws by atomics alone decides
  ForMemory, ///< of which some may lead on, as in a list
  ForAWhile, ///< so many rounds at most
  Yes
};

/// In abi::Wait::a of a Yield.
std::uint32_t paceOf(Waits kind) {
  switch (kind) {
  case Waits::ForDraws: return abi::kRoundsOfDraws;
  case Waits::Perhaps:
  case Waits::ForMemory: return abi::kGetsOn;
  case Waits::ForAWhile: return abi::kGivesUp;
  default: return 0;
  }
}

/// What decides whether the loop is left from there; null where nothing does.
llvm::Value* conditionAt(const llvm::BasicBlock& block) {
  if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator()))
    return branch->isConditional() ? branch->getCondition() : nullptr;
  const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator());
  return choice ? choice->getCondition() : nullptr;
}

/// Some exit asks how many rounds there have been.
bool countsRounds(const llvm::Loop& loop, llvm::ArrayRef<llvm::BasicBlock*> exiting) {
  SliceBuilder builder(loop);
  return llvm::any_of(exiting, [&](const llvm::BasicBlock* block) {
    llvm::Value* condition = conditionAt(*block);
    return condition && builder.of(condition).givesUp;
  });
}

Waits waits(DeviceCode& code, const llvm::Loop& loop) {
  llvm::SmallVector<llvm::BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  if (exiting.empty()) return Waits::Yes; // leaves by nothing: at least the others must get on
  SliceBuilder builder(loop);
  bool memory = false, tickets = false, counted = false, bounded = false;
  for (llvm::BasicBlock* block : exiting) {
    llvm::Value* condition = conditionAt(*block);
    if (!condition) continue;
    const ExitSlice slice = builder.of(condition);
    if (slice.synchronises) {
      builder.addBranchesTo(block);
      markPolled(code, builder.awaited());
      return countsRounds(loop, exiting) ? Waits::ForAWhile : Waits::Yes;
    }
    memory |= slice.readsMemory && !slice.takesTickets;
    tickets |= slice.takesTickets;
    counted |= slice.counts;
    bounded |= slice.counts && !slice.countsPlaces;
  }
  if (memory && !counted) return Waits::ForMemory;
  if (tickets && !memory && !counted) return Waits::ForDraws;
  return (memory || tickets) && !bounded ? Waits::Perhaps : Waits::No;
}

/// A thread that sleeps in the loop gives up as the loop does.
void markSleeps(const llvm::Loop& loop) {
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& instruction : *block) {
      if (!isWaitMarker(instruction)) continue;
      auto& marker = llvm::cast<llvm::CallInst>(instruction);
      if (waitKindOf(marker) != abi::WaitKind::Yield) continue;
      llvm::Value* pace = marker.getArgOperand(1);
      if (isZero(pace, marker.getModule()->getDataLayout()))
        marker.setArgOperand(1, llvm::ConstantInt::get(pace->getType(), abi::kGivesUp));
    }
}

/// In each round, or in one of many.
void addYield(llvm::Loop& loop, Waits kind) {
  constexpr unsigned kRounds = abi::kRoundsOfDraws;
  const bool seldom = kind == Waits::Perhaps || kind == Waits::ForDraws;
  llvm::SmallVector<llvm::BasicBlock*> latches;
  loop.getLoopLatches(latches);
  llvm::AllocaInst* rounds = nullptr;
  if (seldom) {
    llvm::IRBuilder<> start(&*loop.getHeader()->getParent()->getEntryBlock().getFirstInsertionPt());
    rounds = start.CreateAlloca(start.getInt32Ty(), nullptr, "rounds");
    start.CreateStore(start.getInt32(0), rounds);
  }
  for (llvm::BasicBlock* latch : latches) {
    llvm::BasicBlock* between = llvm::SplitEdge(latch, loop.getHeader());
    llvm::IRBuilder<> builder(between->getTerminator());
    builder.SetCurrentDebugLocation(latch->getTerminator()->getDebugLoc());
    if (rounds) {
      auto* round = builder.CreateAdd(builder.CreateLoad(builder.getInt32Ty(), rounds), builder.getInt32(1));
      builder.CreateStore(round, rounds);
      auto* isOver =
          builder.CreateICmpEQ(builder.CreateURem(round, builder.getInt32(kRounds)), builder.getInt32(0));
      builder.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(isOver, between->getTerminator(), false));
    }
    waitMarker(builder, {.kind = abi::WaitKind::Yield, .a = builder.getInt32(paceOf(kind))});
  }
}

} // namespace

void yieldInPollingLoops(DeviceCode& code) {
  for (llvm::Function& function : code.module) {
    if (function.isDeclaration()) continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    std::vector<std::pair<llvm::Loop*, Waits>> found;
    for (llvm::Loop* loop : loops.getLoopsInPreorder())
      if (const Waits kind = waits(code, *loop); kind != Waits::No) found.emplace_back(loop, kind);
    for (auto [loop, kind] : found) {
      if (kind == Waits::ForAWhile) markSleeps(*loop);
      addYield(*loop, kind);
    }
  }
}

} // namespace kcheck::instrument
