// What a thread has written before it wrote to the same place once more, from elsewhere in the code and with
// no barrier in between: the cell shows the later write alone, and others race with both. Free of containers,
// as access.h is.
#pragma once

#include "instrument/runtime/core/shadow.h"

namespace kcheck::runtime {

/// Of one word: two writes that differ, if there are, so that whatever another thread writes there differs
/// from one of them.
struct Overwritten {
  Token token; ///< whose; stands while that is the last writer, hence never cleared
  std::uint16_t site[2];
  std::uint32_t value[2];
  std::uint32_t bytes; ///< which of the first value are meant, one bit each; from bit 4 on the second's
  unsigned bytesOf(unsigned which) const { return bytes >> 4 * which & 15; }
};
static_assert(sizeof(Overwritten) == 20, "five bytes of shadow per byte of memory, where threads do so");

inline constexpr Address kOverwrittenBase = 0x4D00'0000'0000;
inline Overwritten& overwrittenOf(Address address) {
  return *reinterpret_cast<Overwritten*>(kOverwrittenBase + (address - kArenaBase) / 4 * sizeof(Overwritten));
}

/// The thread of the token writes there from another place in the code than before.
inline bool writesOver(const Cell& cell, const CellSites& sites, Token me, std::uint32_t site) {
  return cell.write == me && sites.write != narrowSite(site);
}

inline constexpr unsigned kWholeWord = 15;
/// The bits of so many bytes of a word, one bit each.
std::uint32_t maskOf(unsigned bytes);
/// Some bytes of a word, in which the thread of `token` has left `value` from `site`, are about to be written
/// by it again.
void noteOverwritten(Address word, Token token, std::uint16_t site, std::uint32_t value, unsigned bytes);

} // namespace kcheck::runtime
