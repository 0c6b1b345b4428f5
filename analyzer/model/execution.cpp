// The way through the blocks: scopes (a loop's own blocks and inner loops, or the whole function) in reverse
// post-order, path conditions merged where paths join, and the layers of a phase that starts inside loops.
#include "analyzer/model/execution.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

Execution::Execution(KernelState& state, unsigned run, bool stops, const Execution* before)
    : state(state), exprs(state.exprs), id{run, 0}, stops(stops), before(before) {
  for (auto* block : ReversePostOrderTraversal<const llvm::Function*>(&state.function))
    order.push_back(block);
}

void Execution::fromEntry() { runScope(nullptr); }

void Execution::fromBarrier(const BasicBlock* barrier, Expr condition) {
  start = barrier;
  startCondition = condition;
  for (const Loop* loop = state.loopInfo.getLoopFor(barrier); loop; loop = loop->getParentLoop())
    chain.push_back(loop);
  for (const Loop* loop : chain) iterations[loop] = before->iterations.at(loop);
  resumeCopies(barrier);
  storedAtStart = stored;
  for (const Loop* loop : chain) runScope(loop);
  runScope(nullptr);
  runLayers();
}

/// Paths that crossed the back edge of an enclosing loop go on in that loop's next iteration: as a run of the
/// whole loop whose start values are those at the back edge, and of what follows it.
void Execution::runLayers() {
  for (std::size_t depth = 0; depth < chain.size(); ++depth) {
    const Loop* loop = chain[depth];
    auto crossed = pending.find(loop);
    if (crossed == pending.end()) continue;
    auto backEdges = std::move(crossed->second);
    pending.erase(crossed);
    env.clear();
    edges.clear();
    conditions.clear();
    endConditions.clear();
    left.clear();
    exitSymbols.clear();
    iterationBase.clear();
    for (std::size_t outer = depth; outer < chain.size(); ++outer)
      iterations[chain[outer]] = before->iterations.at(chain[outer]);
    iterationBase[loop] = exprs.add(iterations[loop], exprs.constant(32, 1), NoSignedWrap);
    id.layer = unsigned(depth) + 1;
    Expr entry = exprs.boolean(false);
    PhiValues values;
    for (const BackEdge& edge : backEdges) {
      for (auto& [phi, v] : edge.values) {
        Expr& merged = values[phi];
        merged = merged ? exprs.ite(edge.condition, v, merged) : v;
      }
      entry = exprs.logicalOr(entry, edge.condition);
    }
    if (isFalse(entry)) continue;
    runLoop(loop, entry, values);
    for (std::size_t outer = depth + 1; outer < chain.size(); ++outer) runScope(chain[outer]);
    runScope(nullptr);
  }
}

int Execution::chainIndex(const Loop* loop) const {
  auto found = std::find(chain.begin(), chain.end(), loop);
  return found == chain.end() ? -1 : int(found - chain.begin());
}

/// Runs the blocks that belong to `loop` directly (but its header) and its inner loops, each where an edge
/// leads into it.
void Execution::runScope(const Loop* loop) {
  for (const BasicBlock* block : order) {
    if (loop && (!loop->contains(block) || block == loop->getHeader())) continue;
    const Loop* own = state.loopInfo.getLoopFor(block);
    const Loop* child = nullptr;
    if (own != loop) {
      if (!own || own->getHeader() != block || own->getParentLoop() != loop) continue;
      child = own;
    }
    if (block == start && id.layer == 0) {
      runBlock(block, startCondition);
      continue;
    }
    if (child) {
      int inChain = chainIndex(child);
      if (inChain >= 0 && int(id.layer) <= inChain) continue; // under way already
      PhiValues values;
      if (Expr entry = enter(block, child, &values)) runLoop(child, entry, values);
      continue;
    }
    if (block == &state.function.getEntryBlock()) {
      if (!start) runBlock(block, exprs.boolean(true));
      continue;
    }
    if (stopsAt(block)) continue;
    Expr condition = enter(block, nullptr, nullptr);
    if (!condition) continue;
    if (state.barrierBlocks.count(block) && recording) barrierConditions[block] = condition;
    runBlock(block, condition);
  }
}

void Execution::runBlock(const BasicBlock* block, Expr condition) {
  conditions[block] = condition;
  storedHere.clear();
  for (auto& instruction : *block) {
    noteVariables(instruction);
    if (isa<PHINode>(instruction) || instruction.isTerminator()) continue;
    runInstruction(instruction, condition);
  }
  endConditions[block] = condition;
  leaveBlock(block, condition);
}

void Execution::leaveBlock(const BasicBlock* block, Expr condition) {
  for (const BasicBlock* next : successors(block)) edges.erase({block, next});
  auto add = [&](const BasicBlock* to, Expr taken) {
    Expr& edge = edges[{block, to}];
    edge = edge ? exprs.logicalOr(edge, taken) : taken;
  };
  const Instruction* end = block->getTerminator();
  if (auto* branch = dyn_cast<BranchInst>(end)) {
    if (branch->isUnconditional()) {
      add(branch->getSuccessor(0), condition);
    } else {
      auto simpler = stayConditions.find(block);
      Expr taken = simpler != stayConditions.end() ? simpler->second : value(branch->getCondition());
      branchConditions[block] = taken;
      add(branch->getSuccessor(0), exprs.logicalAnd(condition, taken));
      add(branch->getSuccessor(1), exprs.logicalAnd(condition, exprs.logicalNot(taken)));
    }
  } else if (auto* choice = dyn_cast<SwitchInst>(end)) {
    Expr selector = value(choice->getCondition()), otherwise = condition;
    for (auto& option : choice->cases()) {
      Expr equal = exprs.eq(selector, value(option.getCaseValue()));
      add(option.getCaseSuccessor(), exprs.logicalAnd(condition, equal));
      otherwise = exprs.logicalAnd(otherwise, exprs.logicalNot(equal));
    }
    add(choice->getDefaultDest(), otherwise);
  } else if (end->getNumSuccessors()) {
    state.gap(end, std::string("the control flow of `") + end->getOpcodeName() + "` is not followed", true,
              true);
  }
  if (!stops || !recording) return;
  for (const BasicBlock* next : successors(block)) {
    const Loop* loop = state.loopInfo.getLoopFor(next);
    if (!loop || loop->getHeader() != next || !loop->contains(block)) continue;
    if (chainIndex(loop) < 0 || active.count(loop) || isFalse(edges[{block, next}])) continue;
    BackEdge edge{edges[{block, next}], {}};
    for (auto& phi : next->phis())
      if (isRelevant(&phi)) edge.values[&phi] = value(phi.getIncomingValueForBlock(block));
    pending[loop].push_back(std::move(edge));
  }
}

/// A value on the edge from -> to: values of loops that the edge leaves become their final ones.
Expr Execution::atExit(const BasicBlock* from, const BasicBlock* to, Expr v) const {
  for (const Loop* loop = state.loopInfo.getLoopFor(from); loop && !loop->contains(to);
       loop = loop->getParentLoop()) {
    auto substitution = left.find(loop);
    if (substitution != left.end()) v = const_cast<Substitution&>(substitution->second)(v);
  }
  return v;
}

/// Whether all ways from the end of a block that dominates them lead to `block`, along edges from `last`,
/// without a loop, a barrier that ends the run or an assumption between.
bool Execution::allComeFrom(const BasicBlock* dominator, const BasicBlock* block,
                            std::vector<const BasicBlock*> last) const {
  constexpr std::size_t kMost = 64;
  const Loop* loop = state.loopInfo.getLoopFor(dominator);
  std::set<const BasicBlock*> between;
  while (!last.empty()) {
    const BasicBlock* at = last.back();
    last.pop_back();
    if (at == dominator || !between.insert(at).second) continue;
    auto start = conditions.find(at), end = endConditions.find(at);
    if (between.size() > kMost || state.loopInfo.getLoopFor(at) != loop || start == conditions.end() ||
        end == endConditions.end() || start->second != end->second)
      return false;
    last.insert(last.end(), pred_begin(at), pred_end(at));
  }
  auto staysInside = [&](const BasicBlock* at) {
    return llvm::all_of(successors(at), [&](auto* next) { return next == block || between.count(next); });
  };
  return staysInside(dominator) && llvm::all_of(between, staysInside);
}

/// One of the ways into a block: whether it has been taken, and a value there.
struct Way {
  Expr taken, value;
};

/// The value behind a join, of which one way has been taken. What `&&` and `||` have put together in blocks
/// is put together again.
static Expr merged(ExprContext& exprs, const std::vector<Way>& ways) {
  auto any = [&](auto is) { return llvm::any_of(ways, [&](const Way& way) { return is(way.value); }); };
  const bool anyFalse = any(isFalse), anyTrue = any(isTrue);
  if (anyFalse || anyTrue) {
    Expr found = exprs.boolean(false); // that the value is not what some ways give
    for (const Way& way : ways)
      found = exprs.logicalOr(
          found, exprs.logicalAnd(way.taken, anyFalse ? way.value : exprs.logicalNot(way.value)));
    return anyFalse ? found : exprs.logicalNot(found);
  }
  Expr result = nullptr;
  for (const Way& way : ways) result = result ? exprs.ite(way.taken, way.value, result) : way.value;
  return result;
}

/// The condition under which `block` is entered along the edges met so far (those from outside of `outsideOf`
/// alone, where given), and its phis' values. Null when no edge leads here.
Expr Execution::enter(const BasicBlock* block, const Loop* outsideOf, PhiValues* phis) {
  std::vector<std::pair<const BasicBlock*, Expr>> incoming;
  std::set<const BasicBlock*> seen;
  for (const BasicBlock* from : predecessors(block)) {
    if (!seen.insert(from).second || (outsideOf && outsideOf->contains(from))) continue;
    auto edge = edges.find({from, block});
    if (edge != edges.end() && !isFalse(edge->second)) incoming.push_back({from, edge->second});
  }
  if (incoming.empty()) return nullptr;
  Expr condition = exprs.boolean(false);
  for (auto& [from, taken] : incoming) condition = exprs.logicalOr(condition, taken);
  const BasicBlock* dominator = nullptr;
  if (auto* node = state.dominators.getNode(block))
    if (node->getIDom()) dominator = node->getIDom()->getBlock();
  auto known = dominator ? endConditions.find(dominator) : endConditions.end();
  Expr prefix = incoming.size() > 1 && known != endConditions.end() ? known->second : nullptr;
  if (prefix) {
    std::vector<const BasicBlock*> last;
    for (auto& [from, taken] : incoming) last.push_back(from);
    if (allComeFrom(dominator, block, std::move(last))) condition = prefix;
  }
  for (auto& phi : block->phis()) {
    if (!isRelevant(&phi)) continue;
    std::vector<Way> ways;
    for (auto& [from, taken] : incoming) {
      Expr shorter = prefix ? withoutPrefix(exprs, taken, prefix) : nullptr;
      ways.push_back(
          {shorter ? shorter : taken, atExit(from, block, value(phi.getIncomingValueForBlock(from)))});
    }
    (phis ? (*phis)[&phi] : env[&phi]) = merged(exprs, ways);
  }
  return condition;
}

} // namespace kcheck::analyzer
