// The cells of a row's lanes wherever they lie: before the access and after it, for RowCells to change them
// and to take that back.
#pragma once

#include "instrument/runtime/core/row_cells.h"

#include <bit>

namespace kcheck::runtime {

struct RowCells::Lanes {
  Address at[kWarpSize]; ///< by position, as in RowLanes
  Token write[kWarpSize], read[kWarpSize];
  Token nextWrite[kWarpSize], nextRead[kWarpSize];
  std::uint32_t changed = 0, enters = 0; ///< positions whose cell changes, whose site is entered
  std::uint32_t savedSites = 0;          ///< positions in `site`
  std::uint16_t site[kWarpSize];         ///< of the writer before

  void undo() const {
    for (std::uint32_t left = changed, lane; left; left ^= 1u << lane) { // the last one first
      lane = kWarpSize - 1 - static_cast<std::uint32_t>(std::countl_zero(left));
      openCellOf(at[lane]) = {write[lane], read[lane]};
      if (savedSites >> lane & 1) sitesOf(at[lane]).write = site[lane];
    }
  }
};

} // namespace kcheck::runtime
