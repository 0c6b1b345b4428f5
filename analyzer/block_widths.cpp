#include "analyzer/block_widths.h"

#include "analyzer/expr/evaluate.h"
#include "analyzer/expr/range.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace kcheck::analyzer {
namespace {

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

/// A number of the block's own, such as one that it has drawn: rows of whole warps go by it.
bool isOfRows(Expr e, std::int64_t width) { return width >= 32 && variesOf(e) != Varies::ByThread; }

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
    const auto& phases = model.blockPhases.empty() ? model.gridPhases : model.blockPhases;
    for (const Phase& phase : phases) noteTwice(phase);
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
    const std::int64_t named = wider || rounded(room) > spokenOf[axis] ? wider : leastOf(known, least);
    const std::int64_t step = isRow ? withoutEnds(named) : named;
    if (step && (!room || step <= room || isMissed(step, room))) return step;
    return room ? rounded(room) : 0;
  }
  Axes all() const { return {of(0), of(1), of(2)}; }

private:
  void look(const ModelAccess& access) {
    const MemoryObject& object = model.objects[access.object];
    if (!access.offset || object.space == MemorySpace::Local) return;
    Sum place;
    place.add(access.offset, 1);
    anyNode(access.offset, [&](Expr part) {
      if (part->op == Op::Add) noteSteps(part, access);
      return false;
    });
    if (!isConst(access.size)) return;
    for (unsigned axis = 0; axis < 3; ++axis) {
      Expr thread = model.threadIdx[axis];
      if (access.stores() && !isConst(thread) && !goesForSome(access, thread))
        noteOrder(place, axis, std::int64_t(access.size->value));
      const auto own = place.terms.find(thread);
      if (isConst(thread) || own == place.terms.end() || own->second == 0) continue;
      if (goesForSome(access, thread)) continue;
      const std::int64_t step = own->second;
      if (access.stores() && step > 0) {
        stored.push_back({access.object, axis, step, place});
        for (const auto& [term, scale] : place.terms)
          if (term != thread && scale % step == 0 && (isIndexOrRound(term) || isOfRows(term, scale / step)))
            narrow(steps[axis], scale / step);
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

  /// `blockIdx.x * 64 + 63 - threadIdx.x`, or another order of the block's own part: as many threads as find
  /// a place each in it.
  void noteOrder(const Sum& place, unsigned axis, std::int64_t size) {
    std::vector<std::pair<Expr, std::int64_t>> own;
    for (const auto& term : place.terms)
      if (anyNode(term.first, [&](Expr n) { return n == model.threadIdx[axis]; })) own.push_back(term);
    const auto isOwnAlone = [&](const auto& term) {
      return !anyNode(term.first, [&](Expr n) {
        return n != model.threadIdx[axis] &&
               (n->op == Op::Symbol || (n->op == Op::Apply && n->function->table.empty()));
      });
    };
    if (own.empty() || !std::ranges::all_of(own, isOwnAlone)) return;
    for (const auto& [term, scale] : place.terms) {
      if (!isIndexOrRound(term) || term == model.threadIdx[axis]) continue;
      const std::int64_t step = own.size() == 1 ? std::abs(own.front().second) : size;
      if (step > 0 && scale % step == 0 && fills(own, axis, scale, scale / step))
        narrow(steps[axis], scale / step);
    }
  }

  /// `row[threadIdx.x]` and `row[63 - threadIdx.x]`, before a barrier: each thread stores two elements of the
  /// block's part, so there are half as many threads.
  void noteTwice(const Phase& phase) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      const Expr thread = model.threadIdx[axis];
      std::map<std::pair<unsigned, std::int64_t>, std::array<bool, 2>> ways; // by object and width: up, down
      for (const ModelAccess& access : phase.accesses) {
        if (isConst(thread) || !access.stores() || !access.offset || goesForSome(access, thread)) continue;
        Sum place;
        place.add(access.offset, 1);
        const auto own = place.terms.find(thread);
        if (own == place.terms.end() || own->second == 0) continue;
        for (const auto& [term, scale] : place.terms)
          if (term != thread && isIndexOrRound(term) && scale % own->second == 0)
            ways[{access.object, std::abs(scale / own->second)}][own->second < 0] = true;
      }
      for (const auto& [part, way] : ways)
        if (way[0] && way[1] && part.second % 2 == 0) narrow(steps[axis], part.second / 2);
    }
  }

  /// Whether so many threads find places of their own within `bytes`, in another order than their own: what
  /// leaves them in theirs (`threadIdx.x & 63`) is written for more.
  bool fills(const std::vector<std::pair<Expr, std::int64_t>>& terms, unsigned axis, std::int64_t bytes,
             std::int64_t threads) const {
    if (threads < 2 || threads > kMostThreads) return false;
    std::set<std::int64_t> places;
    bool areInOrder = true;
    for (std::int64_t thread = 0; thread < threads; ++thread) {
      Assignment values;
      values.symbols[model.threadIdx[axis]->symbol] = thread;
      std::int64_t at = 0;
      for (const auto& [term, scale] : terms)
        at += scale * signExtend(evaluate(term, values).value, term->width);
      areInOrder = areInOrder && (places.empty() || at > *places.rbegin());
      if (!places.insert(at).second) return false;
    }
    return !areInOrder && *places.rbegin() - *places.begin() < bytes;
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

  /// A row of whole warps, and a few elements more that somebody among them adds (`row[blockIdx.x * 65 +
  /// 64]`).
  static std::int64_t withoutEnds(std::int64_t step) {
    constexpr std::int64_t kFew = 2;
    return step > 32 && step % 32 <= kFew ? step - step % 32 : step;
  }
  /// Whole warps, or a tile's side, for which an array lacks one element or two: a mistake (`s[threadIdx.x +
  /// 1]`).
  bool isMissed(std::int64_t step, std::int64_t room) const {
    const bool isFlat = isConst(model.threadIdx[1]) && isConst(model.threadIdx[2]);
    const bool isSide = !isFlat && std::has_single_bit(std::uint64_t(step)) && step - room <= step / 8;
    return (step % 32 == 0 || isSide) && step - room <= 2;
  }

  const KernelModel& model;
  std::vector<Stored> stored;
  Axes rooms{}, spokenOf{};
  std::array<Steps, 3> steps, readSteps; ///< what is read may be more than a block's own part
};

} // namespace

bool comparesWithNumber(Expr n, Expr thread) {
  if (n->width != 1 || n->operands.size() != 2 || n->op == Op::Eq) return false;
  const Expr a = n->operands[0], b = n->operands[1];
  return (a == thread && isConst(b)) || (b == thread && isConst(a));
}

Axes widthsOfBlock(const KernelModel& model) { return Widths(model).all(); }

} // namespace kcheck::analyzer
