// Whether two conflicting accesses are ordered, and the report when they are not.
#pragma once

#include "instrument/runtime/core/access.h"
#include "instrument/wire.h"

namespace kcheck::runtime {

/// The access that is being checked.
struct CheckedAccess {
  ThreadState& thread;
  BlockState& block;
  Address address;
  std::uint32_t bytes, site;
  AccessKind kind;
  AtomicOrder order;
  bool shared, isVolatile;
  bool racy = false, outside = false, unwritten = false; ///< reported already
  bool readOnly = false;                                 ///< through the read-only cache
  bool again = false; ///< the same site has written there before: no first value
  /// The race is one of two writes, which may turn out to store the same value: then one with a reader is
  /// told too.
  bool mayBeSameValue = false;
  bool first = false;               ///< a store where nobody has written yet
  bool frees = false;               ///< it gives the memory back, which a write stands for
  std::uint32_t unwrittenBytes = 0; ///< words, or bytes of a word, that nobody has written

  bool atomic() const { return kind >= AccessKind::Atomic; }
  bool reads() const { return kind != AccessKind::Write && kind != AccessKind::AtomicStore; }
  bool writes() const { return kind != AccessKind::Read && kind != AccessKind::AtomicLoad; }
  wire::Doing doing() const {
    return atomic() ? wire::Doing::Atomic : writes() ? wire::Doing::Write : wire::Doing::Read;
  }
};

/// Whether Cell::read names a table of readers, and that table; null when it is an earlier launch's.
inline constexpr bool isReadSet(Token read) { return read >= kReadSet && read < kBytes; }
ReadSet* readSetOf(LaunchState& launch, Token read);

/// Whether having seen the last atomic on a word orders its earlier ones before the thread.
enum class Seen : std::uint8_t {
  Not,
  InOrder, ///< behind a fence, an acquire or a barrier only
  AtAll
};
/// Whether the access that left `token` in the shadow of `at` comes before what the thread does now.
bool comesBefore(const ThreadState& thread, Token token, Address at, Seen seen);

/// Checks against the cell's last writer; then, for writes, against its readers. Reports at most one race.
void checkWriter(CheckedAccess& access, const Cell& cell, const CellSites& sites, Address at);
void checkReaders(CheckedAccess& access, const Cell& cell, const CellSites& sites, Address at);
/// A read through the read-only cache against the kernel's own last write, ordered or not.
void checkOwnWrite(CheckedAccess& access, const Cell& cell, const CellSites& sites);
/// Whether entering the access would hide a weaker one in the cell that others can still race with: a plain
/// write under an atomic one, a plain reader under an atomic one, either under a volatile access. What comes
/// before the weaker one comes before the access too, but who is in order with the access need not be with
/// it.
bool hides(const CheckedAccess& access, const Cell& cell, const CellSites& sites);
/// Checks against hidden accesses; then moves there what the access is about to hide. Before it is entered.
void checkHidden(CheckedAccess& access, Hidden& hidden, Address at);
void keepHidden(CheckedAccess& access, const Cell& cell, const CellSites& sites, Hidden& hidden);
/// For atomics: against earlier ones of block scope that the cell no longer shows. Remembers those of block
/// scope.
void checkNarrowAtomics(CheckedAccess& access);
/// Remembers whose atomics on a word came last.
void noteAtomic(CheckedAccess& access);
/// The thread gives device memory back, at `site`: whoever has used it, and is not ordered before that, may
/// come too late as well.
void checkFree(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site);

/// Enters the access into the cell.
void noteReader(CheckedAccess& access, Cell& cell, CellSites& sites, Address at);
void noteWriter(CheckedAccess& access, Cell& cell, CellSites& sites, Address at);

/// What an access had in mind to store is in memory by the time another thread runs or another access is
/// slow: completes the values of races reported before.
void settleValues(LaunchState& launch);

/// `wire::Access` of a thread.
wire::Access describeThread(const ThreadState& thread, std::uint32_t site, wire::Doing doing);
wire::Access describeOwner(const LaunchState& launch, const Owner& owner, std::uint32_t site,
                           wire::Doing doing);

} // namespace kcheck::runtime
