#include "instrument/runtime/core/row_runs.h"

#include "instrument/runtime/core/row_steps.h"
#include "instrument/runtime/core/vectors.h"

namespace kcheck::runtime {

// Loops over neighbouring cells go by 16 cells; what lies beyond the last one is looked at, or written as it
// is, to no effect.
KCHECK_INLINE std::size_t wholeSteps(std::size_t count) { return (count + 15) / 16 * 16; }

template <bool shared>
KCHECK_INLINE bool keepsRun(const RowWindow& window, const Cell* cells, std::uint32_t count) {
  const RowWindow w = window;
  std::uint32_t good = 0;
  std::size_t whole = wholeSteps(count);
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) good +=
      keepsRead<shared>(w, cells[i]) & static_cast<std::uint32_t>(i < count);
  return good == count;
}
KCHECK_VECTORS bool keepsRunGlobal(const RowWindow& w, const Cell* cells, std::uint32_t count) {
  return keepsRun<false>(w, cells, count);
}
KCHECK_VECTORS bool keepsRunShared(const RowWindow& w, const Cell* cells, std::uint32_t count) {
  return keepsRun<true>(w, cells, count);
}

template <bool shared>
KCHECK_INLINE bool readRun(const RowWindow& window, const Cell* __restrict cells, std::uint32_t count,
                           Token me, std::uint32_t shift, ReadRun& __restrict run) {
  const RowWindow w = window;
  std::uint32_t good = 0, changed = 0, anyFresh = 0;
  std::size_t whole = wholeSteps(count);
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) {
    Step step = stepRead<shared>(w, cells[i], me + 2 * (static_cast<Token>(i) >> shift));
    std::uint32_t active = static_cast<std::uint32_t>(i) < count;
    good += step.ok & active;
    Token read = active ? step.read : cells[i].read;
    std::uint32_t fresh = step.entersSite & active;
    changed |= read ^ cells[i].read;
    anyFresh += fresh;
    run.read[i] = read;
    run.fresh[i] = fresh;
  }
  run.changed = changed;
  run.anyFresh = anyFresh;
  return good == count;
}

KCHECK_VECTORS bool readRunGlobal(const RowWindow& w, const Cell* __restrict cells, std::uint32_t count,
                                  Token me, std::uint32_t shift, ReadRun& __restrict run) {
  return readRun<false>(w, cells, count, me, shift, run);
}
KCHECK_VECTORS bool readRunShared(const RowWindow& w, const Cell* __restrict cells, std::uint32_t count,
                                  Token me, std::uint32_t shift, ReadRun& __restrict run) {
  return readRun<true>(w, cells, count, me, shift, run);
}

KCHECK_VECTORS void enterReads(Cell* __restrict cells, CellSites* __restrict sites, std::uint32_t count,
                               const ReadRun& __restrict run, std::uint16_t site) {
  std::size_t whole = wholeSteps(count);
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) cells[i].read = run.read[i];
  if (!run.anyFresh) return;
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) sites[i].read = run.fresh[i] ? site : sites[i].read;
}

template <bool shared>
KCHECK_INLINE WriteRun writeRun(const RowWindow& window, const Cell* __restrict cells, std::uint32_t count,
                                Token me, std::uint32_t shift) {
  const RowWindow w = window;
  std::uint32_t good = 0, own = 0;
  std::size_t whole = wholeSteps(count);
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) {
    const Token token = me + 2 * (static_cast<Token>(i) >> shift);
    std::uint32_t active = static_cast<std::uint32_t>(i) < count;
    good += stepWrite<shared>(w, cells[i], token).ok & active;
    own |= static_cast<std::uint32_t>(cells[i].write == token) & active;
  }
  return {good == count, own != 0};
}

KCHECK_VECTORS WriteRun writeRunGlobal(const RowWindow& w, const Cell* __restrict cells, std::uint32_t count,
                                       Token me, std::uint32_t shift) {
  return writeRun<false>(w, cells, count, me, shift);
}

template <bool shared>
KCHECK_INLINE WriteRun enterRun(const RowWindow& window, Cell* __restrict cells, CellSites* __restrict sites,
                                std::uint32_t count, Token me, std::uint32_t shift, std::uint16_t site) {
  const RowWindow w = window;
  std::uint32_t good = 0, anyOwn = 0;
  std::size_t whole = wholeSteps(count);
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) {
    Token write = cells[i].write, read = cells[i].read, own = me + 2 * (static_cast<Token>(i) >> shift);
    std::uint32_t active = static_cast<std::uint32_t>(i) < count;
    good += stepWrite<shared>(w, {write, read}, own).ok & active;
    anyOwn |= static_cast<std::uint32_t>(write == own) & active;
    cells[i].write = active ? own : write;
    cells[i].read = read;
  }
  KCHECK_BY_16 for (std::size_t i = 0; i < whole; ++i) sites[i].write = i < count ? site : sites[i].write;
  return {good == count, anyOwn != 0};
}

KCHECK_VECTORS WriteRun enterRunGlobal(const RowWindow& w, Cell* __restrict cells,
                                       CellSites* __restrict sites, std::uint32_t count, Token me,
                                       std::uint32_t shift, std::uint16_t site) {
  return enterRun<false>(w, cells, sites, count, me, shift, site);
}
KCHECK_VECTORS WriteRun enterRunShared(const RowWindow& w, Cell* __restrict cells,
                                       CellSites* __restrict sites, std::uint32_t count, Token me,
                                       std::uint32_t shift, std::uint16_t site) {
  return enterRun<true>(w, cells, sites, count, me, shift, site);
}

} // namespace kcheck::runtime
