// The shadow of device memory: for every 4 bytes one cell that says who wrote and who read last, and so
// answers race, bounds and initialisation at once. It lies at a fixed multiple of the address. Header only
// and free of containers: the hooks' fast paths build on it.
#pragma once

#include "instrument/abi.h"

#include <cstddef>
#include <cstdint>

namespace kcheck::runtime {

using Address = std::uintptr_t;

/// The arenas, one after the other, so that one comparison tells device memory from the rest.
inline constexpr Address kArenaBase = 0x2000'0000'0000;
inline constexpr std::size_t kGlobalBytes = std::size_t{1} << 36;
inline constexpr Address kSharedBase = kArenaBase + kGlobalBytes;
inline constexpr std::size_t kSharedBytes = std::size_t{1} << 33;
inline constexpr Address kPinnedBase = kSharedBase + kSharedBytes;
inline constexpr std::size_t kPinnedBytes = std::size_t{1} << 34;
inline constexpr std::size_t kArenaBytes = kGlobalBytes + kSharedBytes + kPinnedBytes;
/// Distance between the shared windows of two resident blocks.
inline constexpr std::size_t kWindowBytes = std::size_t{512} << 10;
inline constexpr std::size_t kWindows = kSharedBytes / kWindowBytes;
/// The last ones are those of threads that run blocks side by side (share.h).
inline constexpr std::size_t kWindowsOfOne = kWindows - 256;

static_assert(kArenaBase == abi::kArenaStart && kArenaBytes == abi::kArenaExtent);
static_assert(kSharedBase == abi::kSharedStart && kSharedBytes == abi::kSharedExtent);

inline constexpr bool inArena(Address address) { return address - kArenaBase < kArenaBytes; }
inline constexpr Address windowOf(std::uint32_t slot) { return kSharedBase + slot * kWindowBytes; }
inline constexpr bool inShared(Address address) { return address - kSharedBase < kSharedBytes; }

/// When and by whom: the start of a block's barrier interval + 2 * thread in the block + 1 for an atomic.
/// Tokens only grow, so that barriers and launches reset nothing. Even numbers are handed out in ranges
/// (epochs.h).
using Token = std::uint32_t;

/// Fresh pages: not looked at yet; the allocation table knows what they are.
inline constexpr Token kUnknown = 0;
/// Written, long ago and before everything that runs now.
inline constexpr Token kOld = 2;
inline constexpr Token kFirstToken = 16;
inline constexpr Token kLastToken = 0xE000'0000;
/// In Cell::read: an index into the table of reader sets.
inline constexpr Token kReadSet = 0xE000'0000;
/// In Cell::write: the four bytes differ or hide something; Cell::read is their index in the table of byte
/// cells.
inline constexpr Token kBytes = 0xFFFF'FFF8;
/// Nobody's memory: redzone, freed, never allocated.
inline constexpr Token kPoison = 0xFFFF'FFFA;
/// Allocated, and nobody has written it.
inline constexpr Token kUnwritten = 0xFFFF'FFFC;

struct Cell {
  /// The last writer, or one of the words above. In a block's interval [c, c + 2n): thread (t - c) / 2 plain,
  /// or atomic if odd; c + 2n + 1: several threads, all atomic.
  Token write;
  /// The last reader, 0 if none; odd: that thread and others of the block in the same interval (readersOf).
  Token read;

  friend bool operator==(const Cell&, const Cell&) = default;
};
static_assert(sizeof(Cell) == 8, "two bytes of shadow per byte of memory");

/// Which sites made the accesses that a cell remembers. Site numbers beyond 16 bits are kept as kWideSite.
struct CellSites {
  std::uint16_t write, read;
};
static_assert(sizeof(CellSites) == 4);
inline constexpr std::uint16_t kWideSite = 0xFFFF;

inline constexpr std::uint16_t narrowSite(std::uint32_t site) {
  return site < kWideSite ? static_cast<std::uint16_t>(site) : kWideSite;
}

inline constexpr Address kCellBase = kArenaBase * 2;
inline constexpr std::size_t kSitesDistance = 0x1000'0000'0000;

/// 64 bytes of global memory that one warp or the host has used as a whole. While `closed`, this stands for
/// the cells and sites, which are stale then.
struct Line {
  Token write, read; ///< of the first word; of word i: + 2 * (i >> shift)
  CellSites sites;   ///< of all words
  std::uint8_t closed, writeShift, readShift, unused;
};
static_assert(sizeof(Line) == 16, "a quarter byte of shadow per byte of memory");
inline constexpr Address kLineBytes = 64;
inline constexpr unsigned kLineWords = 16;
inline constexpr std::uint8_t kAllSame = 4; ///< a shift: all words have the same token
inline constexpr Address kLinesBase = 0x4800'0000'0000;
inline Line& lineOf(Address address) {
  return *reinterpret_cast<Line*>(kLinesBase + ((address - kArenaBase) / kLineBytes) * sizeof(Line));
}
/// Writes out what a closed line says, and opens it. Lines of shared memory are always open.
void openLine(Address address);

/// Of an open line.
inline Cell& openCellOf(Address address) { return *reinterpret_cast<Cell*>((address & ~Address{3}) * 2); }
inline Cell& cellOf(Address address) {
  if (lineOf(address).closed) [[unlikely]]
    openLine(address);
  return openCellOf(address);
}
/// Of an open line: cellOf() comes before.
inline CellSites& sitesOf(Address address) {
  return *reinterpret_cast<CellSites*>((address & ~Address{3}) + kSitesDistance);
}

/// Two of the readers of a cell whose Cell::read stands for several: whoever writes it meets at least one of
/// them. Looked at only where Cell::read says so, hence never cleared.
struct TwoReaders {
  Token token[2];
  std::uint16_t site[2];
  std::uint32_t unused;
};
static_assert(sizeof(TwoReaders) == 16);
inline constexpr Address kReadersBase =
    0x4C00'0000'0000; ///< AddressSanitizer's heap starts at 0x5000'0000'0000
inline TwoReaders& readersOf(Address address) {
  return *reinterpret_cast<TwoReaders*>(kReadersBase + ((address - kArenaBase) & ~Address{3}) * 4);
}

inline constexpr bool isReserved(Token write) { return write >= kBytes || write < kFirstToken; }

/// Accesses of one byte that the cell no longer shows, because a stronger one of the same kind came after
/// them: an atomic after a plain write. Others may be in order with the stronger one and not with these.
struct Hidden {
  Token write = 0, read = 0; ///< 0: none
  CellSites sites{kWideSite, kWideSite};
};

/// Four cells for the bytes of one word, for memory that is written in smaller pieces or has hidden accesses.
struct ByteCells {
  Cell cell[4];
  CellSites sites[4];
  Hidden* hidden; ///< of the four bytes; null: none
};

/// Maps arenas and shadow; once. False when the address space is taken or too small.
bool mapArenas();

/// The byte cells of an expanded word.
ByteCells& byteCells(const Cell& cell);
/// Makes `cell` an expanded one whose bytes all are as it was.
ByteCells& expand(Cell& cell, CellSites sites);
/// Takes expand() back: the cell is `before` again.
void unexpand(Cell& cell, const Cell& before);
/// Makes room for hidden accesses.
Hidden& hiddenOf(ByteCells& bytes, unsigned byte);
/// Undoes expand() where the four bytes agree and nothing is hidden.
void collapse(Cell& cell, CellSites& sites);

/// Sets cells to (write, read = 0) for every byte of [address, address + bytes), expanding words at the ends
/// that are covered in part.
void fillShadow(Address address, std::size_t bytes, Token write, std::uint16_t site = kWideSite);
/// Makes the shadow of whole pages in the range fresh again (kUnknown); gives their memory back to the
/// system.
void dropShadow(Address address, std::size_t bytes);

} // namespace kcheck::runtime
