// Neighbouring cells, many at a time as vectors: what the threads find that access their words one behind the
// other, and what they leave. The thread of word i is the one of token me + 2 * (i >> shift).
#pragma once

#include "instrument/runtime/core/row_cells.h"
#include "instrument/runtime/core/shadow.h"

namespace kcheck::runtime {

constexpr std::uint32_t kMostCells = kWarpSize * 4; ///< of one row

/// What the readers of a run find, and what they leave.
struct ReadRun {
  Token read[kMostCells];
  std::uint32_t fresh[kMostCells], changed, anyFresh;
};

/// Whether reads change nothing, whoever makes them.
bool keepsRunGlobal(const RowWindow& w, const Cell* cells, std::uint32_t count);
bool keepsRunShared(const RowWindow& w, const Cell* cells, std::uint32_t count);

/// Whether reads are in order, and what they leave; that is entered by `enterReads`.
bool readRunGlobal(const RowWindow& w, const Cell* __restrict cells, std::uint32_t count, Token me,
                   std::uint32_t shift, ReadRun& __restrict run);
bool readRunShared(const RowWindow& w, const Cell* __restrict cells, std::uint32_t count, Token me,
                   std::uint32_t shift, ReadRun& __restrict run);
void enterReads(Cell* __restrict cells, CellSites* __restrict sites, std::uint32_t count,
                const ReadRun& __restrict run, std::uint16_t site);

/// Whether writes are in order, and whether any is to a word that the same thread has written last.
struct WriteRun {
  bool isFine, anyOwn;
};
WriteRun writeRunGlobal(const RowWindow& w, const Cell* __restrict cells, std::uint32_t count, Token me,
                        std::uint32_t shift);
/// The same, and enters the writes: also where they are not.
WriteRun enterRunGlobal(const RowWindow& w, Cell* __restrict cells, CellSites* __restrict sites,
                        std::uint32_t count, Token me, std::uint32_t shift, std::uint16_t site);
WriteRun enterRunShared(const RowWindow& w, Cell* __restrict cells, CellSites* __restrict sites,
                        std::uint32_t count, Token me, std::uint32_t shift, std::uint16_t site);

} // namespace kcheck::runtime
