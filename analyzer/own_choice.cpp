#include "analyzer/own_choice.h"

#include "analyzer/block_widths.h"
#include "analyzer/expr/range.h"
#include "analyzer/separable.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

namespace kcheck::analyzer {

std::size_t countDone(const KernelModel& model) {
  const auto happens = [](const ModelAccess& access) {
    return Ranges(Ranges::Wrapping::Exact).assume(access.condition);
  };
  std::set<std::tuple<SiteId, unsigned, unsigned>> done;
  for (const Phase& phase : model.gridPhases)
    for (const ModelAccess& access : phase.accesses)
      if (happens(access)) done.insert({access.site, access.where.line, access.where.column});
  return done.size();
}

namespace {

/// Whether some thread does something.
bool works(const KernelModel& model) { return countDone(model) > 0; }

using Shapes = std::vector<std::array<std::uint32_t, 2>>; ///< threads of a block, blocks

/// Launches around the numbers that the kernel compares its indices and sizes with.
Shapes shapesAround(const KernelModel& model) {
  std::set<std::uint32_t> threads, blocks;
  constexpr std::int64_t kMost = 1024;
  const auto note = [&](Expr side, Expr number) {
    if (side->op != Op::Symbol || !isConst(number) || number->value < 0 || number->value > kMost) return;
    const auto n = std::uint32_t(number->value);
    const SymbolKind kind = side->symbol->kind;
    if (kind == SymbolKind::ThreadIdx) // more than one that comes so far
      threads.insert(std::min((n + 64) / 32 * 32, std::uint32_t(kMost)));
    if (kind == SymbolKind::BlockIdx) blocks.insert(n + 3);
    if (kind == SymbolKind::BlockDim) threads.insert({n - (n > 0), n, n + 1});
    if (kind == SymbolKind::GridDim) blocks.insert({n - (n > 0), n, n + 1});
  };
  for (const Phase& phase : model.gridPhases)
    for (const ModelAccess& access : phase.accesses)
      anyNode(access.condition, [&](Expr n) {
        const bool isRest = n->op == Op::URem || n->op == Op::SRem || n->op == Op::And;
        if (n->operands.size() != 2 || (n->width != 1 && !isRest)) return false;
        note(n->operands[0], n->operands[1]);
        note(n->operands[1], n->operands[0]);
        return false;
      });
  Shapes result;
  threads.insert(128);
  blocks.insert(4);
  for (std::uint32_t block : threads)
    for (std::uint32_t grid : blocks)
      if (block > 0 && block <= kMost && grid > 0) result.push_back({block, grid});
  return result;
}

/// How many accesses may leave an array of the kernel's file, as far as their place is known.
struct Misfits {
  std::size_t all = 0;
  std::size_t slight =
      0; ///< by an element or two, or a row: a mistake rather than a hint at how wide a block is
  std::size_t guarded = 0; ///< by a number (`threadIdx.x < 64`): in narrower blocks they would only hide
};
/// How far apart the rows are that the place of threads beside each other along y or z follows; 0: it follows
/// none.
std::int64_t rowOf(const KernelModel& model, Expr place) {
  std::int64_t row = 0;
  anyNode(place, [&](Expr n) {
    if (n->op != Op::Mul || !isConst(n->operands[1]) || n->operands[1]->value <= 0) return false;
    const auto isOfRow = [&](Expr part) {
      return !isConst(part) && (part == model.threadIdx[1] || part == model.threadIdx[2]);
    };
    if (anyNode(n->operands[0], isOfRow)) row = std::max(row, n->operands[1]->value);
    return false;
  });
  return row;
}

Misfits misfits(const KernelModel& model) {
  Misfits count;
  for (const Phase& phase : model.gridPhases)
    for (const ModelAccess& access : phase.accesses) {
      const MemoryObject& object = model.objects[access.object];
      if (object.space == MemorySpace::Local || !object.bytes || !access.offset || !isConst(access.size) ||
          !causesOf(access.offset).empty())
        continue;
      Ranges ranges;
      if (!ranges.assume(access.condition)) continue;
      const Range place = ranges.of(access.offset);
      if (place.lo >= 0 && place.hi + access.size->value <= Int(*object.bytes)) continue;
      ++count.all;
      const Int beyond = place.hi - Int(*object.bytes);
      count.slight += place.lo >= 0 && beyond <= std::max(access.size->value, rowOf(model, access.offset));
      count.guarded += anyNode(access.condition, [&](Expr n) {
        return std::ranges::any_of(model.threadIdx,
                                   [&](Expr thread) { return comparesWithNumber(n, thread); });
      });
    }
  return count;
}

/// Blocks of these widths, the usual ones where nothing is said, and lower ones where that is too many
/// threads or what the kernel does in its other rows may want it.
std::vector<Dim3> blocksOf(const Axes& widths, const Dim3& usual) {
  Dim3 block = usual;
  if (widths[0]) block.x = std::uint32_t(widths[0]);
  if (widths[1] && usual.y > 1) block.y = std::uint32_t(widths[1]);
  if (widths[2] && usual.z > 1) block.z = std::uint32_t(widths[2]);
  std::vector<Dim3> result;
  for (; block.y > 0; block.y /= 2)
    if (block != usual && std::uint64_t(block.x) * block.y * block.z <= kMostThreads) result.push_back(block);
  return result;
}

/// Where threads of more than the usual block do something of their own (`threadIdx.x >= 128`): a block that
/// has them all.
bool choosesWider(LaunchPlan& plan, const KernelModel& any, std::size_t done,
                  const std::function<std::size_t()>& doneNow) {
  if (countDone(any) <= done) return false;
  const PlannedCase before = plan.concrete.front();
  const std::uint32_t usual = before.shown.block.whole().value_or(Dim3{}).x,
                      blocks = before.shown.grid.whole().value_or(Dim3{}).x;
  constexpr std::size_t kMost = 8;
  std::set<std::uint32_t> wider;
  for (const auto& [threads, grid] : shapesAround(any))
    if (threads > usual && wider.size() < kMost) wider.insert(threads);
  std::uint32_t best = 0;
  for (const std::uint32_t threads : wider) {
    if (!chooseWidth(plan, threads, blocks)) continue;
    if (const std::size_t now = doneNow(); now > done) done = now, best = threads;
  }
  plan.concrete.front() = before;
  return best != 0 && chooseWidth(plan, best, blocks);
}

} // namespace

std::size_t countMisfits(const KernelModel& model) { return misfits(model).all; }

bool choosesOther(LaunchPlan& plan, const KernelModel& usual, const PreparedModule& prepared,
                  const KernelCode& code, const Facts& facts) {
  ExprContext exprs;
  const KernelModel any = separableModel(exprs, prepared, code, facts, plan.any);
  if (!works(any) || any.breaksAssumption) return false;
  const bool usualWorks = works(usual) && !usual.breaksAssumption;
  PlannedCase& chosen = plan.concrete.front(); // questions speak of it by address
  const PlannedCase before = chosen;
  const auto misfitsNow = [&]() -> std::optional<Misfits> {
    ExprContext own;
    const KernelModel model = separableModel(own, prepared, code, facts, chosen.launch);
    if (!works(model) || model.breaksAssumption) return {};
    return misfits(model);
  };
  const auto doneNow = [&]() -> std::size_t {
    ExprContext own;
    const KernelModel model = separableModel(own, prepared, code, facts, chosen.launch);
    return model.breaksAssumption || misfits(model).all > 0 ? 0 : countDone(model);
  };
  const Misfits ofUsual = usualWorks ? misfits(usual) : Misfits{};
  const auto isBetter = [&] {
    const auto now = misfitsNow();
    return now && (!usualWorks || now->all - now->slight <= ofUsual.all);
  };
  const Axes widths = widthsOfBlock(any);
  const Dim3 shown = before.shown.block.whole().value_or(Dim3{});
  const bool isFlat = shown.y == 1 && shown.z == 1;
  const bool areSaid = widths[0] || (!isFlat && (widths[1] || widths[2]));
  const bool areUsual =
      (!widths[0] || widths[0] == shown.x) &&
      (isFlat || ((!widths[1] || widths[1] == shown.y) && (!widths[2] || widths[2] == shown.z)));
  if (usualWorks && areSaid && areUsual && (isFlat || ofUsual.all == ofUsual.slight)) {
    plan.isFitted = true;
    return false;
  }
  const bool mayStay = usualWorks && areUsual; // then others must be better, not just as good
  if (!mayStay || ofUsual.all > 0)
    for (const Dim3& block : blocksOf(widths, shown))
      if (chooseBlock(plan, block) && isBetter() && (!mayStay || misfitsNow()->all < ofUsual.all)) {
        plan.isFitted = true;
        return true;
      }
  chosen = before;
  if (ofUsual.all > 0 && ofUsual.guarded == 0 && shown.y == 1 && shown.z == 1)
    for (const std::uint32_t threads : {96, 64, 48, 32, 16})
      if (const auto now = chooseBlock(plan, {threads, 1, 1}) ? misfitsNow() : std::nullopt;
          now && now->all == 0) {
        plan.isFitted = true;
        return true;
      }
  chosen = before;
  if (usualWorks) return isFlat && choosesWider(plan, any, countDone(usual), doneNow);
  Shapes shapes{{64, 4}, {256, 4}, {128, 2}, {64, 2}, {512, 4}, {32, 4}, {128, 64}, {256, 64}, {64, 1}};
  constexpr std::size_t kMost = 40;
  llvm::append_range(shapes, shapesAround(any));
  shapes.resize(std::min(shapes.size(), kMost));
  const auto most = plan.any.grid[0].value_or(~0u); // one, where the kernel is one block's work
  for (const auto& [threads, blocks] : shapes)
    if (chooseWidth(plan, threads, std::min(blocks, most)) && isBetter()) return true;
  chosen = before;
  plan.leftOut = "in " + before.holdsFor +
                 ", no thread does anything, or an assumption of the kernel fails; give a launch with "
                 "--block and --grid";
  return false;
}

} // namespace kcheck::analyzer
