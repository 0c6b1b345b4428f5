// What access.h and race.h say about one access, without branches, for a block whose threads only barriers
// order: of one cell, and of a closed line that a row covers.
#pragma once

#include "instrument/runtime/core/row_cells.h"
#include "instrument/runtime/core/vectors.h"

namespace kcheck::runtime {

struct Step {
  Token write, read;
  std::uint32_t ok, entersSite; ///< 0 or 1
};

template <bool shared> KCHECK_INLINE Step stepRead(const RowWindow& w, Cell cell, Token me) {
  std::uint32_t own = (cell.write | 1) == (me | 1), same = cell.read == me;
  std::uint32_t inside = cell.read - w.interval < w.many;
  std::uint32_t written, before, others = 0;
  if constexpr (shared) {
    written = (cell.write - w.born < w.interval - w.born) | (cell.write == kOld);
    before = cell.read < w.interval;
  } else {
    written = (cell.write - 1 < w.floor - 1) | (cell.write - w.ordered < w.interval - w.ordered);
    before = (cell.read < w.floor) | (cell.read - w.ordered < w.interval - w.ordered);
    others = (cell.read == w.launchMany) |
             (std::uint32_t{w.ownTokensOrdered} & (cell.read >= w.first) & (cell.read < kReadSet));
  }
  Token read = before | same ? me : inside ? cell.read | 1 : w.launchMany;
  return {cell.write, read, (written | own) & (before | same | inside | others), before};
}

template <bool shared> KCHECK_INLINE Step stepWrite(const RowWindow& w, Cell cell, Token me) {
  std::uint32_t fine = ((cell.write | 1) == (me | 1)) | (cell.write == kUnwritten), read = cell.read == me;
  if constexpr (shared) {
    fine |= (cell.write - kFirstToken < w.interval - kFirstToken) | (cell.write == kOld);
    read |= cell.read < w.interval;
  } else {
    fine |= (cell.write - 1 < w.floor - 1) | (cell.write - w.ordered < w.interval - w.ordered);
    read |= (cell.read < w.floor) | (cell.read - w.ordered < w.interval - w.ordered);
  }
  return {me, cell.read, fine & read, 1};
}

/// Read-modify-write of device scope or wider, without order.
template <bool shared> KCHECK_INLINE Step stepAtomic(const RowWindow& w, Cell cell, Token me) {
  std::uint32_t before, unread = cell.read == me;
  if constexpr (shared) {
    before = (cell.write - w.born < w.interval - w.born) | (cell.write == kOld);
    unread |= cell.read < w.interval;
  } else {
    before = (cell.write - 1 < w.floor - 1) | (cell.write - w.ordered < w.interval - w.ordered);
    unread |= (cell.read < w.floor) | (cell.read - w.ordered < w.interval - w.ordered);
  }
  before |= (cell.write | 1) == (me | 1);
  // A plain write of this launch is remembered beside the cell (race.h, hides).
  std::uint32_t hidden =
      ~cell.write & (cell.write >= (shared ? w.interval : w.first)) & (cell.write < kReadSet);
  std::uint32_t atomic = cell.write & 1, inside = cell.write - w.interval < w.many + 2;
  std::uint32_t others =
      shared ? 0 : std::uint32_t{w.ownTokensOrdered} & (cell.write >= w.first) & (cell.write < kReadSet);
  Token write = before ? me | 1 : inside ? (w.interval + w.many) | 1 : w.launchMany | 1;
  return {write, cell.read, (before | (atomic & (inside | others))) & unread & ~hidden & 1, 1};
}

template <abi::SiteKind kind, bool shared> KCHECK_INLINE Step step(const RowWindow& w, Cell cell, Token me) {
  if constexpr (kind == abi::SiteKind::Read) return stepRead<shared>(w, cell, me);
  if constexpr (kind == abi::SiteKind::Write) return stepWrite<shared>(w, cell, me);
  return stepAtomic<shared>(w, cell, me);
}

/// Read-modify-write of device scope or wider, without order: what stepAtomic() is about.
inline bool updatesWidely(const abi::LoggedAccess& access) {
  constexpr std::uint32_t both = 0x300, order = 7;
  return (access.order & both) == both && !(access.order & order) && (access.order >> 4 & 3) >= 2;
}

enum class LineStep : std::uint8_t {
  Keep,   ///< the access is fine and changes nothing
  Change, ///< it is fine, and `line` is as it is afterwards
  Open,   ///< the cells must tell
};

/// A read by any thread of the block is fine and changes nothing: several have read the cell.
template <bool shared> KCHECK_INLINE std::uint32_t keepsRead(const RowWindow& w, Cell cell) {
  std::uint32_t several = (cell.read & 1) & (cell.read - w.interval < w.many);
  if constexpr (shared)
    return ((cell.write - w.born < w.interval - w.born) | (cell.write == kOld)) & several;
  else
    return ((cell.write - 1 < w.floor - 1) | (cell.write - w.ordered < w.interval - w.ordered)) &
           (several | (cell.read == w.launchMany));
}

/// A read of any word of a closed line is fine and changes nothing. What is so of the first word is so of all
/// others: their tokens are of one interval.
KCHECK_INLINE bool keepsReads(const RowWindow& w, const Line& line) {
  return keepsRead<false>(w, {line.write, line.read});
}

/// A read of a whole closed line of global memory: word i by the thread `me` + 2 * (i >> shift).
inline LineStep stepReadLine(const RowWindow& w, Line& line, Token me, std::uint32_t shift,
                             std::uint16_t site) {
  bool alike = line.readShift == shift;
  Cell first{line.write, line.read};
  // Who wrote or read the first word did so with all others, except that "myself" holds for the whole line
  // only where tokens go along with it.
  bool own = (line.write | 1) == (me | 1), same = line.read == me;
  if ((own && line.writeShift != shift) || (same && !alike)) return LineStep::Open;
  Step next = stepRead<false>(w, first, me);
  if (!next.ok) return LineStep::Open;
  bool inside = line.read - w.interval < w.many;
  if (inside && !alike) return keepsReads(w, line) ? LineStep::Keep : LineStep::Open;
  if (next.read == line.read) return LineStep::Keep;
  line.read = next.read;
  if (next.entersSite) line.sites.read = site;
  line.readShift = next.entersSite ? static_cast<std::uint8_t>(shift) : inside ? line.readShift : kAllSame;
  return LineStep::Change;
}

/// A line that a warp has written. Readers that came before it need not be remembered: whoever is not in
/// order with them is not with the write.
inline Line writtenLine(Token me, std::uint32_t shift, std::uint16_t site) {
  return {me, 0, {site, kWideSite}, 1, static_cast<std::uint8_t>(shift), kAllSame, 0};
}

/// A plain write of a whole closed line.
inline LineStep stepWriteLine(const RowWindow& w, Line& line, Token me, std::uint32_t shift,
                              std::uint16_t site) {
  bool own = (line.write | 1) == (me | 1), same = line.read == me;
  if ((own && line.writeShift != shift) || (same && line.readShift != shift)) return LineStep::Open;
  if (!stepWrite<false>(w, {line.write, line.read}, me).ok) return LineStep::Open;
  line = writtenLine(me, shift, site);
  return LineStep::Change;
}

} // namespace kcheck::runtime
