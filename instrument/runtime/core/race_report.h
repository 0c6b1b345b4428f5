// What a race looks like in the log: who, where, which values, which rule.
#pragma once

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/race.h"

namespace kcheck::runtime {

/// An earlier access as the shadow remembers it.
struct Earlier {
  Token token;
  std::uint16_t site;
  bool writes, atomic;
  bool overwritten = false; ///< what it wrote is no longer in memory
};

/// Scope of the atomic at a site; 0 when none has run there.
inline std::uint32_t atomicScope(const LaunchState& launch, std::uint16_t site) {
  return site < launch.atomicScope.size() ? launch.atomicScope[site] : 0;
}

/// Two atomics of different sizes need not see each other whole. What is smaller than a word is made of
/// operations on words.
inline bool differInSize(const CheckedAccess& access, const Earlier& earlier) {
  if (!access.atomic() || !earlier.atomic || earlier.site == kWideSite) return false;
  const abi::SiteInfo* theirs = context().site(earlier.site);
  return theirs && theirs->kind == abi::SiteKind::Atomic && theirs->bytes >= 4 && access.bytes >= 4 &&
         theirs->bytes != access.bytes;
}

/// A race with the earlier access of `owner`, found at the byte or word `at`. `bareFlag`: of a polled flag
/// and its volatile store.
void reportRace(CheckedAccess& access, const Earlier& earlier, const Owner& owner, bool bareFlag, Address at);
/// The same with a reader, of an access whose race with another write has been reported just now: told once
/// it is known that both store the same value.
void keepRaceWithReader(CheckedAccess& access, const Earlier& earlier, const Owner& owner, bool bareFlag);
/// A read through the read-only cache of what `owner` has written in the same launch.
void reportOldRead(const CheckedAccess& access, const Earlier& write, const Owner& owner);
/// A use by `owner` of what the access frees.
void reportUseBesideFree(const CheckedAccess& free, const Earlier& use, const Owner& owner);
/// A race with an operation that this launch has no owners for: another stream's kernel or a copy.
void reportStreamRace(CheckedAccess& access, const Earlier& earlier, bool bareFlag);

} // namespace kcheck::runtime
