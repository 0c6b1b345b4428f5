// One memory access of device code against the shadow. The inline part settles the common cases (nobody else
// has touched the cell since the last barrier); everything else goes to checkAccess. Free of containers, so
// that it can be compiled into device code.
#pragma once

#include "instrument/runtime/core/overwritten.h"
#include "instrument/runtime/core/shadow.h"
#include "instrument/runtime/core/state.h"

namespace kcheck::runtime {

enum class AccessKind : std::uint8_t { Read, Write, Atomic, AtomicLoad, AtomicStore };

/// The order word of kcAtomic.
struct AtomicOrder {
  std::uint32_t word = 0;
  bool acquires() const { return (word & 7) == 1 || (word & 7) >= 3; }
  bool releases() const { return (word & 7) >= 2; }
  std::uint32_t scope() const { return word >> 4 & 3; }
  bool loads() const { return word & 0x100; }
  bool stores() const { return word & 0x200; }
};

/// Every access can be checked here; the inline functions below only leave out what is certain to be right.
void checkAccess(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site, AccessKind kind,
                 AtomicOrder order);

/// A write that comes before everything this block does now.
inline bool writtenBefore(const BlockState& block, Token write) {
  return write - 1 < block.floor - 1 || write - block.ordered < block.interval - block.ordered;
}
inline bool readBefore(const BlockState& block, Token read) {
  return read < block.floor || read - block.ordered < block.interval - block.ordered;
}

/// Several threads of the block have read the cell in this interval, and it is known.
inline bool readByMany(const BlockState& block, Token read) {
  return (read & 1) && read - block.interval < block.many;
}

/// The thread is about to write to a word that it has written last: what is there now is not to be lost, nor
/// what it had in mind to store in a race that has just been found.
void keepValue(ThreadState& thread, Address word, std::uint16_t earlierSite, std::uint32_t site);

inline bool fastReadGlobal(ThreadState& thread, const BlockState& block, Address address,
                           std::uint32_t site) {
  Cell& cell = cellOf(address);
  if (!writtenBefore(block, cell.write) && (cell.write | 1) != (thread.me | 1)) [[unlikely]]
    return false;
  if (cell.read == thread.me || cell.read == block.launchMany || readByMany(block, cell.read)) return true;
  if (!readBefore(block, cell.read)) return false;
  cell.read = thread.me;
  sitesOf(address).read = narrowSite(site);
  return true;
}

inline bool fastWriteGlobal(ThreadState& thread, const BlockState& block, Address address,
                            std::uint32_t site) {
  Cell& cell = cellOf(address);
  const bool isOwn = cell.write == thread.me;
  if (!isOwn && !writtenBefore(block, cell.write) && cell.write != kUnwritten) return false;
  if (!readBefore(block, cell.read) && cell.read != thread.me) return false;
  if (isOwn && (sitesOf(address).write != narrowSite(site) || !block.launch->pendingValues.empty()))
    keepValue(thread, address, sitesOf(address).write, site);
  cell.write = thread.me;
  sitesOf(address).write = narrowSite(site);
  return true;
}

inline bool fastReadShared(ThreadState& thread, const BlockState& block, Address address,
                           std::uint32_t site) {
  Cell& cell = cellOf(address);
  if (cell.write - block.born >= block.interval - block.born && (cell.write | 1) != (thread.me | 1))
    return false;
  if (cell.read == thread.me || readByMany(block, cell.read)) return true;
  if (cell.read >= block.interval) return false;
  cell.read = thread.me;
  sitesOf(address).read = narrowSite(site);
  return true;
}

inline bool fastWriteShared(ThreadState& thread, const BlockState& block, Address address,
                            std::uint32_t site) {
  Cell& cell = cellOf(address);
  // Older than the interval: by this block or by an earlier one in the same window; not the words below
  // tokens.
  const bool isOwn = cell.write == thread.me;
  if (cell.write - kFirstToken >= block.interval - kFirstToken && !isOwn && cell.write != kUnwritten)
    return false;
  if (cell.read >= block.interval && cell.read != thread.me) return false;
  if (isOwn && (sitesOf(address).write != narrowSite(site) || !block.launch->pendingValues.empty()))
    keepValue(thread, address, sitesOf(address).write, site);
  cell.write = thread.me;
  sitesOf(address).write = narrowSite(site);
  return true;
}

/// Atomics of device scope or wider without order, onto a cell that several atomics have met already.
inline bool fastAtomicGlobal(ThreadState& thread, const BlockState& block, Address address) {
  const Cell& cell = cellOf(address);
  return cell.write == (block.launchMany | 1) && (readBefore(block, cell.read) || cell.read == thread.me);
}

template <AccessKind kind>
inline void access(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site) {
  const BlockState& block = thread.owner();
  if (inArena(address) && !(address & 3) && (bytes == 4 || bytes == 8 || bytes == 16) &&
      !(address & (bytes - 1)) && block.launch->isPlain(site)) [[likely]] {
    bool settled = true;
    for (Address at = address; at < address + bytes && settled; at += 4) {
      if constexpr (kind == AccessKind::Read)
        settled =
            inShared(at) ? fastReadShared(thread, block, at, site) : fastReadGlobal(thread, block, at, site);
      else
        settled = inShared(at) ? fastWriteShared(thread, block, at, site)
                               : fastWriteGlobal(thread, block, at, site);
    }
    if (settled) return;
  }
  checkAccess(thread, address, bytes, site, kind, {});
}

} // namespace kcheck::runtime
