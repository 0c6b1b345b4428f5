#include "instrument/pass/exit_slices.h"

#include "instrument/pass/hooks.h"
#include "instrument/pass/loop_counters.h"
#include "instrument/pass/markers.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <utility>

namespace kcheck::instrument {

namespace {

const llvm::Value* placeOf(const llvm::Instruction& access) {
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&access)) return update->getPointerOperand();
  return llvm::getLoadStorePointerOperand(&access);
}

bool isOthers(llvm::Value* address) {
  auto* one = llvm::ConstantInt::get(llvm::Type::getInt64Ty(address->getContext()), 1);
  return localityOf(address, one).kind == Locality::Elsewhere;
}

} // namespace

ExitSlice ExitSlices::of(llvm::Value* condition) {
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

void ExitSlices::addBranchesTo(llvm::BasicBlock* exit) {
  for (llvm::BasicBlock* block : loop.blocks()) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional() || block == exit) continue;
    if (leadsTo(branch->getSuccessor(0), exit) != leadsTo(branch->getSuccessor(1), exit))
      of(branch->getCondition());
  }
}

void ExitSlices::goOver() {
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
bool ExitSlices::leadsTo(llvm::BasicBlock* from, const llvm::BasicBlock* to) const {
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

void ExitSlices::add(llvm::Value* value) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction && loop.contains(instruction) && seen.insert(instruction).second)
    work.push_back(instruction);
}

void ExitSlices::classify(llvm::Instruction& instruction) {
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
void ExitSlices::await(llvm::Instruction& read, llvm::Value* address) {
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
bool ExitSlices::goesOn(llvm::PHINode& number) const {
  return number.getParent() == loop.getHeader() && !nextValues(number, loop).contains(&number);
}

long ExitSlices::waysRound(const llvm::PHINode& phi) const {
  return llvm::count_if(phi.blocks(), [&](llvm::BasicBlock* from) { return loop.contains(from); });
}

void ExitSlices::addDeciders(llvm::BasicBlock* block) {
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

} // namespace kcheck::instrument
