// Reads of what nobody has written yet, until the launch's end tells which of them only came too early: where
// the write follows without order, the race says it all.
#pragma once

#include "instrument/runtime/core/shadow.h"
#include "instrument/wire.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace kcheck::runtime {

struct CheckedAccess;
struct LaunchState;

class EarlyReads {
public:
  /// The access reads the word or byte at `at`, which nobody has written.
  void note(const CheckedAccess& access, Address at);
  /// The accesses of a site are told by `finding`.
  void told(std::uint32_t site, wire::Finding* finding);
  /// A plain write of [at, end). What unordered readers found there before is explained by that; not where
  /// some reader comes before the write, and not where the writer itself has read it: an update gives nothing
  /// its first value.
  void written(const CheckedAccess& access, Address at, Address end);
  /// At the end of the launch: takes back what is explained. What stays shows a read that is not.
  void settle(const LaunchState& launch);

  bool empty() const { return words.empty(); }
  void clear();

private:
  struct Reader {
    Token token;
    std::uint32_t site;
  };
  struct Word {
    Token born = 0; ///< of the block, for shared memory
    std::vector<Reader> readers;
  };
  /// A read that nothing has explained.
  struct Left {
    Token token = 0; ///< 0: none
    Address at = 0;
  };
  struct Site {
    wire::Finding* finding = nullptr;
    std::uint64_t times = 0; ///< told in this launch
    std::uint64_t noted = 0, explained = 0;
    Left left; ///< in a block that is over
  };

  void showAnother(const LaunchState& launch, std::uint32_t number, Site& site) const;

  std::unordered_map<Address, Word> words;
  std::map<std::uint32_t, Site> sites;
  std::size_t readers = 0; ///< in all words
};

} // namespace kcheck::runtime
