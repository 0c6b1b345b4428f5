#include "analyzer/findings/hints.h"

#include "report/atomic_operand.h"

#include <fmt/format.h>

#include <algorithm>

namespace kcheck::analyzer {
namespace {

/// Whether threads of a block may have different answers, as to `threadIdx.x < 16`.
bool partsThreads(Expr condition) {
  return anyNode(condition, [](Expr n) {
    if (n->op == Op::Apply) return n->function->varies == Varies::ByThread;
    if (n->op != Op::Symbol || n->symbol->kind == SymbolKind::LoopCounter) return false;
    return n->symbol->varies == Varies::ByThread;
  });
}

/// Both accesses are where only some threads come, by the same condition: between them is no place for a
/// barrier.
bool areInOneBranch(const RaceResult& race) {
  const auto first = conjunctsOf(race.first->condition), second = conjunctsOf(race.second->condition);
  return std::ranges::any_of(first, [&](Expr part) {
    return partsThreads(part) && std::ranges::find(second, part) != second.end();
  });
}

bool isSamePlace(const Location& a, const Location& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

/// Whether the access comes more than once between barriers, as what was in a loop does that is written out.
bool comesAgain(const ModelAccess& access, const KernelModel& model) {
  std::size_t times = 0;
  for (const Phase& phase : model.blockPhases)
    times += std::size_t(std::ranges::count_if(phase.accesses, [&](const ModelAccess& other) {
      return other.site == access.site && other.kind == access.kind;
    }));
  return times > 1;
}

/// Whether both are, or were, in one loop.
bool mayShareLoop(const RaceResult& race, const KernelModel& model) {
  const auto &one = race.first->loops, &other = race.second->loops;
  if (one.empty() && other.empty()) return comesAgain(*race.first, model) && comesAgain(*race.second, model);
  return std::ranges::any_of(one,
                             [&](const void* loop) { return std::ranges::find(other, loop) != other.end(); });
}

/// By the source alone, the barrier that the interval begins with is between the two accesses: they meet
/// where a loop comes round.
bool meetInNextRound(const RaceResult& race, const KernelModel& model, unsigned first, unsigned last) {
  const Location& barrier = race.phase->where;
  return barrier.known() && barrier.file == race.first->where.file && first < barrier.line &&
         barrier.line <= last && mayShareLoop(race, model);
}

/// The two threads are in different rounds of a loop that holds both accesses.
bool areInDifferentRounds(const RaceResult& race) {
  auto valueOf = [](const WitnessThread& thread, const std::string& name) {
    const auto found = std::ranges::find(thread.values, name, [](const auto& value) { return value.first; });
    return found == thread.values.end() ? std::nullopt : std::optional(found->second);
  };
  auto differs = [&](Expr n) {
    if (n->op != Op::Symbol || n->symbol->kind != SymbolKind::LoopCounter || n->symbol->isOutcome)
      return false;
    const auto one = valueOf(race.witness.first, n->symbol->name),
               other = valueOf(race.witness.second, n->symbol->name);
    return one && other && *one != *other;
  };
  return anyNode(race.first->offset, differs) || anyNode(race.first->condition, differs);
}

} // namespace

std::string raceHint(const RaceResult& race, const KernelModel& model, const std::string& rule,
                     const std::string& expr, const std::string& updates, bool locksWithinBlocks) {
  if (rule == "race-scope") return "use the device-wide form of the operation";
  if (locksWithinBlocks)
    return "a lock or flag in shared memory is the block's own: one in global memory is seen by all blocks";
  if (race.witness.leansOn(CauseKind::Wait))
    return fmt::format("{}() before the flag or lock is set, and after the loop that waits for it",
                       race.scope == RaceScope::InterBlock ? "__threadfence" : "__threadfence_block");
  if (!race.lengths.empty())
    return fmt::format(
        "where each element of `{0}` is the sum of those of `{1}` before it, let rows end at the "
        "next element of `{0}`, and say kcheck::ascending({0}, number of elements) at the "
        "kernel's start",
        race.ascending, race.lengths);
  if (!race.ascending.empty())
    return fmt::format("where `{0}` ascends, as the rows of a sparse matrix do, say kcheck::ascending({0}, "
                       "number of elements) at the kernel's start",
                       race.ascending);
  if (!race.distinct.empty() && race.kind == RaceKind::WriteWrite)
    return fmt::format(
        "where no two elements of `{0}` are equal, say kcheck::distinct({0}, number of elements) "
        "at the kernel's start",
        race.distinct);
  const Location &a = race.first->where, &b = race.second->where;
  const bool sameStatement = isSamePlace(a, b);
  if (sameStatement && race.kind == RaceKind::ReadWrite && race.first->site != race.second->site)
    return atomicUpdate(expr, updates);
  if (race.scope == RaceScope::InterBlock || sameStatement) return "";
  const char* barrier = rule == "race-warp" ? "__syncwarp()" : "__syncthreads()";
  if (a.file != b.file) return fmt::format("{} between the two accesses", barrier);
  const unsigned first = std::min(a.line, b.line), last = std::max(a.line, b.line);
  const bool isInBranch = areInOneBranch(race);
  if (!isInBranch && areInDifferentRounds(race))
    return fmt::format("{} at the end of each round of the loop", barrier);
  if (first == last && race.kind == RaceKind::ReadWrite)
    return fmt::format("read into a variable, {}{}, then write", barrier,
                       isInBranch ? " where all threads come to it" : "");
  if (isInBranch)
    return fmt::format(
        "{} between the two accesses, outside of the branch or loop that only some threads take", barrier);
  if (race.phase && race.phase->where.known() && race.phase->entry != "kernel entry" && first != last) {
    if (meetInNextRound(race, model, first, last))
      return fmt::format("{} after line {} too, before a loop comes back to line {}", barrier, last, first);
    return fmt::format("{} between lines {} and {}", barrier, first, last);
  }
  return fmt::format("{} after line {}", barrier, first);
}

} // namespace kcheck::analyzer
