#include "analyzer/own_choice.h"

#include "analyzer/expr/range.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace kcheck::analyzer {
namespace {

constexpr std::int64_t kMostThreads = 1024;

/// The accesses that some thread may do.
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

using Axes = std::array<std::int64_t, 3>;

/// A place as a sum of multiples, and a number.
struct Sum {
  std::map<Expr, std::int64_t> terms;
  std::int64_t number = 0;

  /// `scale * e`, as far as that is a sum of products with constants.
  void add(Expr e, std::int64_t scale) {
    if (e->op == Op::Add)
      for (Expr part : e->operands) add(part, scale);
    else if (e->op == Op::Mul && isConst(e->operands[1]))
      add(e->operands[0], scale * signExtend(e->operands[1]->value, e->width));
    else if (e->op == Op::ZExt || e->op == Op::SExt)
      add(e->operands[0], scale);
    else if (isConst(e))
      number += scale * signExtend(e->value, e->width);
    else
      terms[e] += scale;
  }
};

bool isIndexOrRound(Expr e) {
  return isIndex(e) || (e->op == Op::Symbol && e->symbol->kind == SymbolKind::LoopCounter);
}

/// `threadIdx.x < 10`
bool comparesWithNumber(Expr n, Expr thread) {
  if (n->width != 1 || n->operands.size() != 2 || n->op == Op::Eq) return false;
  const Expr a = n->operands[0], b = n->operands[1];
  return (a == thread && isConst(b)) || (b == thread && isConst(a));
}

/// `threadIdx.x < k`, with `k` of all threads: who goes how far is not said by the place alone.
bool comparesWithOther(Expr n, Expr thread) {
  if (n->width != 1 || n->operands.size() != 2 || n->op == Op::Eq) return false;
  const Expr a = n->operands[0], b = n->operands[1];
  const auto isBound = [](Expr e) { return !isConst(e) && !anyNode(e, isIndex); };
  return (a == thread && isBound(b)) || (b == thread && isBound(a));
}

/// `threadIdx.x == 15`
bool isAtEdge(Expr n, Expr thread) {
  if (n->op != Op::Eq) return false;
  const Expr a = n->operands[0], b = n->operands[1];
  return (a == thread && isConst(b) && b->value > 0) || (b == thread && isConst(a) && a->value > 0);
}

/// `threadIdx.x < blockDim.x / 32`: the wider the block, the more of its threads do it.
bool comparesWithWidth(Expr n, Expr thread) {
  if (n->width != 1 || n->operands.size() != 2 || n->op == Op::Eq) return false;
  const auto isOfWidth = [&](Expr e) {
    return !anyNode(e, isIndex) && anyNode(e, [](Expr part) {
      return part->op == Op::Symbol && part->symbol->kind == SymbolKind::BlockDim;
    });
  };
  const Expr a = n->operands[0], b = n->operands[1];
  return (a == thread && isOfWidth(b)) || (b == thread && isOfWidth(a));
}

/// Threads of some numbers alone: how many there are says nothing of how wide a block is.
bool goesForSome(const ModelAccess& access, Expr thread) {
  return anyNode(access.condition,
                 [&](Expr n) { return comparesWithNumber(n, thread) || comparesWithWidth(n, thread); });
}

/// Whole warps, or a part of one.
std::int64_t rounded(std::int64_t width) {
  return width >= 32 ? width / 32 * 32
                     : std::int64_t(std::bit_floor(std::uint64_t(std::max<std::int64_t>(width, 1))));
}

/// How wide a block may be along each axis for what the kernel does wherever the thread's index stands there:
/// threads of more would come to what belongs to the next row, block or round, or leave an array of known
/// size. 0: nothing says so.
class Widths {
public:
  explicit Widths(const KernelModel& model) : model(model) {
    for (const Phase& phase : model.gridPhases)
      for (const ModelAccess& access : phase.accesses) {
        look(access);
        noteThreads(access.condition);
      }
    for (const Stored& first : stored)
      for (const Stored& second : stored) compare(first, second);
  }
  /// Steps say how wide a block is, but where the kernel speaks of threads beyond them, as of those at the
  /// edge of a tile; parts of a warp are no width of a row where some step says more. Arrays say only how
  /// wide it is at most, with some room perhaps.
  std::int64_t of(unsigned axis) const {
    const Steps& known = steps[axis].empty() ? readSteps[axis] : steps[axis];
    const bool isRow = isConst(model.threadIdx[1]) && isConst(model.threadIdx[2]);
    const std::int64_t least = isRow && !known.empty() && *known.rbegin() >= 32 ? 31 : 0;
    const std::int64_t room = rooms[axis], wider = leastOf(known, std::max(spokenOf[axis], least));
    const std::int64_t step = wider || rounded(room) > spokenOf[axis] ? wider : leastOf(known, least);
    if (step && (!room || step <= room)) return step;
    return room ? rounded(room) : 0;
  }
  Axes all() const { return {of(0), of(1), of(2)}; }

private:
  void look(const ModelAccess& access) {
    const MemoryObject& object = model.objects[access.object];
    if (!access.offset || object.space == MemorySpace::Local || !isConst(access.size)) return;
    Sum place;
    place.add(access.offset, 1);
    anyNode(access.offset, [&](Expr part) {
      if (part->op == Op::Add) noteSteps(part, access);
      return false;
    });
    for (unsigned axis = 0; axis < 3; ++axis) {
      Expr thread = model.threadIdx[axis];
      const auto own = place.terms.find(thread);
      if (isConst(thread) || own == place.terms.end() || own->second == 0) continue;
      if (goesForSome(access, thread)) continue;
      const std::int64_t step = own->second;
      if (access.stores() && step > 0) {
        stored.push_back({access.object, axis, step, place});
        for (const auto& [term, scale] : place.terms)
          if (isIndexOrRound(term) && term != thread && scale % step == 0) narrow(steps[axis], scale / step);
      }
      const auto staysOut = [&](Expr n) { return comparesWithOther(n, thread) || isAtEdge(n, thread); };
      if (anyNode(access.condition, staysOut)) continue;
      if (const auto rest = object.bytes ? restOf(place, axis) : std::nullopt)
        narrow(rooms[axis], (step > 0 ? std::int64_t(*object.bytes) - *rest - std::int64_t(access.size->value)
                                      : place.number) /
                                    std::abs(step) +
                                1);
    }
  }

  /// `blockIdx.y * 6 + threadIdx.y`, wherever it stands.
  void noteSteps(Expr part, const ModelAccess& access) {
    Sum sum;
    sum.add(part, 1);
    for (unsigned axis = 0; axis < 3; ++axis) {
      Expr thread = model.threadIdx[axis], block = model.blockIdx[axis];
      const auto own = sum.terms.find(thread), ofBlock = sum.terms.find(block);
      if (isConst(thread) || own == sum.terms.end() || ofBlock == sum.terms.end() || own->second <= 0)
        continue;
      if (goesForSome(access, thread)) continue;
      if (ofBlock->second % own->second == 0)
        narrow((access.stores() ? steps : readSteps)[axis], ofBlock->second / own->second);
    }
  }

  /// The threads that the condition asks for by number.
  void noteThreads(Expr condition) {
    anyNode(condition, [&](Expr n) {
      if (n->width != 1 || n->operands.size() != 2) return false;
      for (unsigned axis = 0; axis < 3; ++axis)
        for (std::size_t i : {0u, 1u}) {
          const Expr thread = model.threadIdx[axis], number = n->operands[1 - i];
          if (!isConst(thread) && n->operands[i] == thread && isConst(number) && number->value < kMostThreads)
            spokenOf[axis] = std::max(spokenOf[axis], number->value);
        }
      return false;
    });
  }

  struct Stored {
    unsigned object, axis;
    std::int64_t step;
    Sum place;
  };

  /// Each thread stores twice, so far apart that this is as many threads as there are (`out[t]`, `out[t +
  /// 128]`).
  void compare(const Stored& first, const Stored& second) {
    constexpr std::int64_t kLeast = 32;
    const std::int64_t apart = second.place.number - first.place.number;
    if (first.object == second.object && first.axis == second.axis &&
        first.place.terms == second.place.terms && apart % first.step == 0 && apart / first.step >= kLeast)
      narrow(steps[first.axis], apart / first.step);
  }

  /// How far the rest of the place leads at most, where it follows this axis, faster ones and what has bounds
  /// of its own (`buffer[round & 1][threadIdx.x]`).
  std::optional<std::int64_t> restOf(const Sum& place, unsigned axis) const {
    std::int64_t sum = place.number;
    constexpr std::int64_t kMost = std::int64_t{1} << 20;
    for (const auto& [term, scale] : place.terms) {
      if (term->op == Op::Symbol && term->symbol->kind == SymbolKind::ThreadIdx) {
        if (std::abs(scale) > std::abs(place.terms.at(model.threadIdx[axis]))) return {};
        continue;
      }
      const Range range = Ranges().of(term);
      if (isIndexOrRound(term) || range.lo < 0 || range.hi > kMost || scale < 0 || scale > kMost) return {};
      sum += scale * std::int64_t(range.hi);
    }
    return sum;
  }
  static void narrow(std::int64_t& known, std::int64_t width) {
    if (width < 2 || width > kMostThreads) return;
    known = known == 0 ? width : std::min(known, width);
  }
  using Steps = std::set<std::int64_t>;
  static void narrow(Steps& known, std::int64_t width) {
    if (width >= 2 && width <= kMostThreads) known.insert(width);
  }
  /// Of those above `bound`, but for what misses whole warps by a little: a mistake.
  static std::int64_t leastOf(const Steps& steps, std::int64_t bound) {
    for (const std::int64_t step : steps) {
      const std::int64_t warps = (step + 2) / 32 * 32;
      if (step > bound && (warps == step || !steps.contains(warps))) return step;
    }
    return 0;
  }

  const KernelModel& model;
  std::vector<Stored> stored;
  Axes rooms{}, spokenOf{};
  std::array<Steps, 3> steps, readSteps; ///< what is read may be more than a block's own part
};

/// How many accesses may leave an array of the kernel's file, as far as their place is known.
struct Misfits {
  std::size_t all = 0;
  std::size_t guarded = 0; ///< by a number (`threadIdx.x < 64`): in narrower blocks they would only hide
};
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
  const KernelModel any = buildModel(exprs, prepared, code, facts, plan.any);
  if (!works(any) || any.breaksAssumption) return false;
  const bool usualWorks = works(usual) && !usual.breaksAssumption;
  PlannedCase& chosen = plan.concrete.front(); // questions speak of it by address
  const PlannedCase before = chosen;
  const auto misfitsNow = [&]() -> std::optional<std::size_t> {
    ExprContext own;
    const KernelModel model = buildModel(own, prepared, code, facts, chosen.launch);
    if (!works(model) || model.breaksAssumption) return {};
    return misfits(model).all;
  };
  const auto doneNow = [&]() -> std::size_t {
    ExprContext own;
    const KernelModel model = buildModel(own, prepared, code, facts, chosen.launch);
    return model.breaksAssumption || misfits(model).all > 0 ? 0 : countDone(model);
  };
  const Misfits ofUsual = usualWorks ? misfits(usual) : Misfits{};
  const auto isBetter = [&] {
    const auto now = misfitsNow();
    return now && (!usualWorks || *now <= ofUsual.all);
  };
  const Axes widths = Widths(any).all();
  const Dim3 shown = before.shown.block.whole().value_or(Dim3{});
  const bool isFlat = shown.y == 1 && shown.z == 1;
  const bool areSaid = widths[0] || (!isFlat && (widths[1] || widths[2]));
  const bool areUsual =
      (!widths[0] || widths[0] == shown.x) &&
      (isFlat || ((!widths[1] || widths[1] == shown.y) && (!widths[2] || widths[2] == shown.z)));
  if (usualWorks && areSaid && areUsual && (isFlat || ofUsual.all == 0)) {
    plan.isFitted = true;
    return false;
  }
  const bool mayStay = usualWorks && areUsual; // then others must be better, not just as good
  if (!mayStay || ofUsual.all > 0)
    for (const Dim3& block : blocksOf(widths, shown))
      if (chooseBlock(plan, block) && isBetter() && (!mayStay || *misfitsNow() < ofUsual.all)) {
        plan.isFitted = true;
        return true;
      }
  chosen = before;
  if (ofUsual.all > 0 && ofUsual.guarded == 0 && shown.y == 1 && shown.z == 1)
    for (const std::uint32_t threads : {96, 64, 48, 32, 16})
      if (chooseBlock(plan, {threads, 1, 1}) && misfitsNow() == std::size_t{0}) {
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
