// Where the threads of a block read in shared memory, and who writes there: all threads of a block of known
// shape, in all rounds of the loops that matter.
#pragma once

#include "analyzer/decide/kernel_view.h"
#include "analyzer/decide/view.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

namespace kcheck::analyzer {

/// Bytes that one thread accesses, in rounds of its loops that are known.
struct Spot {
  std::int64_t offset = 0, bytes = 0;
  std::int64_t thread = -1;         ///< in its block; -1: any
  std::vector<std::int64_t> common; ///< values of what the read and its writes have in common
  std::vector<std::int64_t> own;    ///< of what else is tried out
  std::size_t write = 0;            ///< of a write: its number in KernelModel::sharedWrites
  bool isSure = true;               ///< these rounds come, where the conditions hold
};

/// All spots of one access.
class Spots {
public:
  using Symbols = std::vector<const Symbol*>;
  using Loops = std::vector<const void*>;
  /// `loops` are around a read as well: their rounds are no matter of this access.
  Spots(KernelView& kernel, const ModelAccess& access, const Symbols& common, const Loops& loops);

  /// False where the access can be anywhere for all that is tried out.
  bool areKnown() const { return isKnown; }
  const std::vector<Spot>& all() const { return spots; }
  /// What has to hold besides for the thread to come there: width 1.
  Expr residue(const Spot& spot);
  /// That the thread is that one, in those rounds.
  Expr isThere(const Spot& spot);

private:
  struct Variable {
    const Symbol* symbol = nullptr;
    std::int64_t lo = 0, hi = 0;
  };
  bool need(Expr e);
  bool take(Expr symbol);
  bool isTriedOut(const Symbol& symbol) const;
  double count() const;
  void goThrough();
  bool areSure(const std::vector<std::int64_t>& rounds) const;
  void takeRange();
  template <class Set> void setAll(const Spot& spot, const Set& set) const;

  KernelView& kernel;
  const ModelAccess& access;
  const Loops& loops;
  AccessView view;
  std::vector<Variable> common, own;
  std::vector<Expr> filters;
  Expr rest = nullptr; ///< of the condition, which is not tried out
  bool isKnown = false;
  std::vector<Spot> spots;
};

/// Spots of writes that several reads ask about.
using KnownSpots = std::map<std::tuple<std::size_t, Spots::Symbols, Spots::Loops>, std::unique_ptr<Spots>>;

class PlacesOfRead {
public:
  PlacesOfRead(KernelView& kernel, const KernelModel& model, const SharedRead& read, KnownSpots& known)
      : kernel(kernel), model(model), read(read), known(known) {}

  /// No read is of what was written in parts.
  bool areWhole() const { return grain == read.access.size->value; }
  /// False where it cannot be told where the read goes.
  bool find();
  /// Where it is not plain that somebody has written.
  std::vector<const Spot*> uncovered();
  /// Of those the writes that surely come before.
  std::vector<const Spot*> writersBefore(const Spot& spot);
  /// And all that put something there, in whatever order.
  std::vector<const Spot*> writersAtAll(const Spot& spot);
  /// Whether these are all that there can be, under conditions that are known.
  bool areAllKnown(const Spot& spot);
  /// Whether what is there may have been changed, if never written first.
  bool mayBeChanged(const Spot& spot) const;
  Expr residue(const Spot& written);
  /// Null where it follows what that thread alone knows.
  Expr residueKnown(const Spot& written);
  Expr isThere(const Spot& spot) { return ofRead->isThere(spot); }

private:
  bool isCommon(const Symbol* symbol) const;
  Spots::Symbols commonSymbols() const;
  void cutPieces();
  bool noteWrites(); ///< false: too many
  void notePerhaps(const Spots& spots, bool isChange);
  bool isBefore(const Spot& written, const Spot& spot) const;

  KernelView& kernel;
  const KernelModel& model;
  const SharedRead& read;
  KnownSpots& known;
  Spots::Symbols common;
  std::unique_ptr<Spots> ofRead;
  std::vector<Spot> pieces; ///< of the read, each of `grain` bytes
  std::int64_t grain = 0;
  /// Where writes may go of which no more is known, and changes; and whether some may go anywhere.
  std::set<std::int64_t> perhapsWritten, perhapsChanged;
  bool someAnywhere = false, changedAnywhere = false;
  std::unordered_map<std::int64_t, std::vector<Spot>> writes; ///< by offset / grain
};

} // namespace kcheck::analyzer
