// What atomics, flags and locks hand on through one word.
#pragma once

#include "instrument/runtime/core/clock.h"
#include "instrument/runtime/core/shadow.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kcheck::runtime {

inline constexpr std::uint64_t kNoBlock = ~std::uint64_t{0}, kSeveralBlocks = kNoBlock - 1;

/// What stores have made known to those who see them.
struct Published {
  Clock device, wide;
  std::vector<std::pair<std::uint64_t, Clock>> byBlock; ///< releases of one block, for acquires of that block
  bool empty() const { return device.empty() && wide.empty() && byBlock.empty(); }
  Clock& ofBlock(std::uint64_t block);
  void join(const Published& other);
};

/// The bytes of its word that an access takes, a bit for each.
constexpr std::uint8_t bytesOfWord(Address at, std::uint32_t bytes) {
  return bytes >= 4 ? 0xf : static_cast<std::uint8_t>(((1u << bytes) - 1) << (at & 3) & 0xf);
}

/// What atomics have published through one word.
struct SyncWord {
  std::uint32_t version = 0;            ///< counts atomic operations
  std::uint64_t user = kNoBlock;        ///< of shared memory: the block whose it is
  std::uint64_t narrowBlock = kNoBlock; ///< whose block-scope atomics have changed it
  /// The last such atomic at each site: a later one of wider scope hides it in the cell, and does not make it
  /// safe.
  struct Narrow {
    Token token;
    std::uint16_t site;
  };
  std::vector<Narrow> narrow;
  /// The last wide atomic of each thread, for later ones of block scope; of the first kMostWide threads.
  struct Wide {
    std::uint64_t block;
    std::uint32_t thread;
    Narrow last;
  };
  static constexpr std::size_t kMostWide = 64;
  std::vector<Wide> wideAtomics;
  bool moreWide = false; ///< some found no room there
  Narrow first{};        ///< the store that gave it the first value it has had; no token: none has
  /// What each of the last kMostWide threads that stored here had done then, itself included.
  struct Stored {
    std::uint64_t block;
    std::uint32_t thread;
    Token token;
  };
  std::vector<Stored> stores;
  void noteStore(const Stored& store);
  /// At that token or later.
  bool hasStored(std::uint64_t block, std::uint32_t thread, Token since) const;
  /// What is published with some of its bytes: flags of one byte lie side by side.
  struct Part {
    std::uint8_t bytes;
    Published published;
  };
  std::vector<Part> parts;
  bool publishes(std::uint8_t bytes) const;
  Published publishedWith(std::uint8_t bytes) const;
  Published& partOf(std::uint8_t bytes);
  /// A plain store ends what others have published there.
  void forget(std::uint8_t bytes);
  /// The last stores, oldest first: a load may still see an older one than the last, as long as nothing says
  /// that it comes after the newer ones.
  struct Version {
    Token token = 0;
    std::uint32_t number = 0; ///< `version` after it
    std::uint32_t thread = 0;
    std::uint64_t block = 0;
    std::uint64_t fence = 0; ///< number of its thread's first fence after it; 0: none yet
    std::uint64_t value = 0;
    bool isUpdate = false; ///< read and written back, perhaps unchanged
    Published published;   ///< with it, by the word
  };
  /// The last release here. What its thread stores here later publishes the same, whatever the later store's
  /// order: one of PTX's release patterns.
  struct Release {
    std::uint64_t block = kNoBlock;
    std::uint32_t thread = 0;
    std::uint8_t bytes = 0;
    Clock device, wide, inBlock;
  };
  std::optional<Release> lastRelease;
  static constexpr std::size_t kVersions = 4;
  std::vector<Version> versions;
  Version before;                 ///< the oldest of them
  std::uint32_t versionBytes = 0; ///< 0: nothing was stored yet
  Address versionAt = 0;
  bool hasVersionsOf(Address at, std::uint32_t bytes) const {
    return !versions.empty() && bytes == versionBytes && at == versionAt;
  }
  bool versionsUnsettled = false; ///< the last one's value is not in memory yet
  void settleVersion();
  /// Before a store: where the word is not what the last one has left, a plain store came after that one, and
  /// nobody who sees what is stored now has it from older ones.
  void notePlainStore(Address at, std::uint32_t bytes);
  void addVersion(Address at, std::uint32_t bytes, const Version& added);
  /// What the last update has to publish. It counts only if the update changes the word: nobody can tell a
  /// value that was written back from the one before, so nobody can have waited for it. Whether it did is
  /// seen at the next look at the word, because hooks stand before their access.
  struct Update {
    Address address = 0;
    std::uint32_t bytes = 0; ///< 0: nothing to settle
    std::uint8_t ofWord = 0; ///< bytesOfWord()
    std::uint64_t before = 0, block = 0;
    Clock device, inBlock, wide;
  };
  /// In Update::bytes: stored, whatever the value.
  static constexpr std::uint32_t kWhateverValue = ~std::uint32_t{0};
  Update last;
  void settle();
};

} // namespace kcheck::runtime
