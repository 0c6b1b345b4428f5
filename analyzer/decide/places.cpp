#include "analyzer/decide/places.h"

#include "analyzer/expr/fold.h"
#include "analyzer/expr/tape.h"

#include <algorithm>
#include <numeric>

namespace kcheck::analyzer {
namespace {

constexpr double kMostSpots = 1 << 13; ///< of an access
constexpr std::size_t kMostPieces = 1 << 17;
constexpr std::int64_t kMostPlaces = 4096;
const Spots::Loops kNoLoops;

bool contains(Expr e, const auto& isIt) {
  return e && anyNode(e, [&](Expr n) { return n->op == Op::Symbol && isIt(n->symbol); });
}

} // namespace

Spots::Spots(KernelView& kernel, const ModelAccess& access, const Symbols& sharedSymbols, const Loops& loops)
    : kernel(kernel), access(access), loops(loops),
      view(kernel, access.condition, access.offset, access.size, Ranges::Wrapping::Exact) {
  rest = kernel.context.boolean(true);
  if (!view.isPossible) {
    isKnown = true;
    return;
  }
  if (!isConst(access.size) || access.size->value <= 0) return;
  for (const Symbol* symbol : sharedSymbols) {
    const Range range = view.ranges.of(kernel.context.of(symbol));
    if (range.hi - range.lo >= Int(kMostSpots)) return;
    common.push_back({symbol, std::int64_t(range.lo), std::int64_t(range.hi)});
  }
  if (!need(kernel.linearThread)) return;
  if (!need(access.offset)) {
    own.clear();
    takeRange();
    return;
  }
  for (Expr part : conjunctsOf(access.condition)) {
    const std::vector<Variable> before = own;
    if (need(part)) {
      filters.push_back(part);
      continue;
    }
    own = before;
    rest = kernel.context.logicalAnd(rest, part);
  }
  isKnown = true;
  goThrough();
}

double Spots::count() const {
  double result = 1;
  for (const auto* variables : {&common, &own})
    for (const Variable& v : *variables) result *= double(v.hi) - double(v.lo) + 1;
  return result;
}

bool Spots::need(Expr e) {
  if (anyNode(e, [](Expr n) { return n->op == Op::Apply; })) return false;
  bool isBounded = true;
  anyNode(e, [&](Expr n) {
    if (n->op == Op::Symbol) isBounded = isBounded && take(n);
    return !isBounded;
  });
  return isBounded;
}

/// Of which all values come that the conditions allow: each thread, each round.
bool Spots::isTriedOut(const Symbol& symbol) const {
  if (symbol.kind == SymbolKind::ThreadIdx) return true;
  if (symbol.kind != SymbolKind::LoopCounter || symbol.isOutcome) return false;
  const auto loop = kernel.model.roundsOf.find(&symbol);
  return loop != kernel.model.roundsOf.end() && std::ranges::find(loops, loop->second) == loops.end();
}

bool Spots::take(Expr symbol) {
  for (const auto* variables : {&common, &own})
    for (const Variable& v : *variables)
      if (v.symbol == symbol->symbol) return true;
  if (!isTriedOut(*symbol->symbol)) return false;
  const Range range = view.ranges.of(symbol);
  if (range.hi - range.lo >= Int(kMostSpots)) return false;
  // The tape reads with sign, and ranges what has none without.
  if (symbol->width > 1 && range.hi > signedMax(symbol->width)) return false;
  own.push_back({symbol->symbol, std::int64_t(range.lo), std::int64_t(std::max(range.lo, range.hi))});
  return count() <= kMostSpots;
}

void Spots::goThrough() {
  std::vector<Expr> roots{kernel.linearThread, access.offset};
  roots.insert(roots.end(), filters.begin(), filters.end());
  Tape tape(roots);
  std::vector<Variable> all = common;
  all.insert(all.end(), own.begin(), own.end());
  std::vector<std::int64_t> values;
  for (const Variable& v : all) {
    if (v.hi < v.lo) return;
    values.push_back(v.lo);
  }
  for (;;) {
    for (std::size_t i = 0; i < all.size(); ++i) tape.set(all[i].symbol, values[i]);
    tape.run();
    bool comes = true;
    for (std::size_t i = 0; i < filters.size(); ++i) comes = comes && tape[2 + i];
    if (comes) {
      const auto split = values.begin() + std::ptrdiff_t(common.size());
      Spot& spot = spots.emplace_back();
      spot.offset = tape[1];
      spot.bytes = access.size->value;
      spot.thread = tape[0];
      spot.common = {values.begin(), split};
      spot.own = {split, values.end()};
      spot.isSure = areSure(spot.own);
    }
    std::size_t i = 0;
    for (; i < all.size() && values[i] == all[i].hi; ++i) values[i] = all[i].lo;
    if (i == all.size()) return;
    ++values[i];
  }
}

/// Whether the thread comes to these rounds for all that may end its loops before.
bool Spots::areSure(const std::vector<std::int64_t>& rounds) const {
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto loop = kernel.model.roundsOf.find(own[i].symbol);
    if (rounds[i] != 0 && loop != kernel.model.roundsOf.end() &&
        kernel.model.loopsLeftByData.contains(loop->second))
      return false;
  }
  return true;
}

/// Anywhere in a range, by any thread.
void Spots::takeRange() {
  const Range range = view.ranges.of(access.offset);
  const std::int64_t bytes = access.size->value;
  if (!common.empty() || range.lo < 0 || range.hi - range.lo > Int(kMostPlaces) * bytes) return;
  if (range.lo % bytes != 0 || !isMultiple(view.offsetPoly, bytes)) return;
  rest = access.condition;
  for (auto at = std::int64_t(range.lo); Int(at) <= range.hi; at += bytes) {
    Spot& spot = spots.emplace_back();
    spot.offset = at;
    spot.bytes = bytes;
  }
}

template <class Set> void Spots::setAll(const Spot& spot, const Set& set) const {
  for (std::size_t i = 0; i < common.size(); ++i) set(common[i].symbol, spot.common[i]);
  for (std::size_t i = 0; i < own.size(); ++i) set(own[i].symbol, spot.own[i]);
}

Expr Spots::residue(const Spot& spot) {
  if (isTrue(rest)) return rest;
  Substitution values(kernel.context);
  setAll(spot, [&](const Symbol* symbol, std::int64_t value) {
    values.set(kernel.context.of(symbol), kernel.context.constant(symbol->width, value));
  });
  return values(rest);
}

Expr Spots::isThere(const Spot& spot) {
  ExprContext& c = kernel.context;
  if (spot.thread < 0) return c.eq(access.offset, c.constant(access.offset->width, spot.offset));
  Expr result = c.boolean(true);
  setAll(spot, [&](const Symbol* symbol, std::int64_t value) {
    result = c.logicalAnd(result, c.eq(c.of(symbol), c.constant(symbol->width, value)));
  });
  return result;
}

bool PlacesOfRead::isCommon(const Symbol* symbol) const {
  const auto loop = model.roundsOf.find(symbol);
  return loop != model.roundsOf.end() &&
         std::ranges::find(read.access.loops, loop->second) != read.access.loops.end();
}

/// What changes in loops around the read, and places follow.
Spots::Symbols PlacesOfRead::commonSymbols() const {
  Spots::Symbols result;
  const auto add = [&](Expr offset) {
    anyNode(offset, [&](Expr n) {
      if (n->op == Op::Symbol && n->symbol->kind == SymbolKind::LoopCounter && isCommon(n->symbol) &&
          std::ranges::find(result, n->symbol) == result.end())
        result.push_back(n->symbol);
      return false;
    });
  };
  // Those of the read alone are its own.
  for (const SharedWrite& write : model.sharedWrites)
    if (write.access.object == read.access.object) add(write.access.offset);
  return result;
}

bool PlacesOfRead::find() {
  common = commonSymbols();
  ofRead = std::make_unique<Spots>(kernel, read.access, common, kNoLoops);
  if (!ofRead->areKnown() && ofRead->all().empty()) return false;
  if (!noteWrites()) return false;
  cutPieces();
  return true;
}

bool PlacesOfRead::noteWrites() {
  std::vector<std::pair<std::size_t, Spots*>> found;
  grain = read.access.size->value;
  for (const Spot& spot : ofRead->all()) grain = std::gcd(grain, spot.offset);
  for (std::size_t i = 0; i < model.sharedWrites.size(); ++i) {
    const SharedWrite& write = model.sharedWrites[i];
    if (write.access.object != read.access.object) continue;
    auto& entry = known[{i, common, read.access.loops}];
    if (!entry) entry = std::make_unique<Spots>(kernel, write.access, common, read.access.loops);
    if (entry->areKnown()) found.emplace_back(i, entry.get());
    for (const Spot& spot : entry->all()) grain = std::gcd(std::gcd(grain, spot.offset), spot.bytes);
  }
  for (std::size_t i = 0; i < model.sharedWrites.size(); ++i)
    if (const auto entry = known.find({i, common, read.access.loops});
        entry != known.end() && model.sharedWrites[i].access.object == read.access.object &&
        !entry->second->areKnown())
      notePerhaps(*entry->second, model.sharedWrites[i].isChange);
  std::size_t count = 0;
  for (const auto& [number, spotsOf] : found)
    for (const Spot& spot : spotsOf->all()) {
      count += std::size_t(spot.bytes / grain);
      if (count > kMostPieces) return false;
      for (std::int64_t at = spot.offset; at < spot.offset + spot.bytes; at += grain) {
        Spot& piece = writes[at].emplace_back(spot);
        piece.write = number;
        piece.isSure = piece.isSure && !model.sharedWrites[number].isPart;
      }
    }
  return true;
}

void PlacesOfRead::notePerhaps(const Spots& spots, bool isChange) {
  if (spots.all().empty()) (isChange ? changedAnywhere : someAnywhere) = true;
  for (const Spot& spot : spots.all())
    for (std::int64_t at = spot.offset; at < spot.offset + spot.bytes; at += grain)
      (isChange ? perhapsChanged : perhapsWritten).insert(at);
}

void PlacesOfRead::cutPieces() {
  for (const Spot& spot : ofRead->all())
    for (std::int64_t at = spot.offset; at < spot.offset + spot.bytes; at += grain) {
      Spot& piece = pieces.emplace_back(spot);
      piece.offset = at;
      piece.bytes = grain;
    }
}

bool PlacesOfRead::isBefore(const Spot& written, const Spot& spot) const {
  if (!written.isSure || written.common != spot.common) return false;
  const WriteOrder order = read.orders[written.write];
  return order == WriteOrder::Before || (order == WriteOrder::OwnBefore && written.thread == spot.thread);
}

Expr PlacesOfRead::residue(const Spot& written) {
  return known.at({written.write, common, read.access.loops})->residue(written);
}

Expr PlacesOfRead::residueKnown(const Spot& written) {
  Expr result = residue(written);
  return kernel.isPrivate(result, Relation::SameBlock) ? nullptr : result;
}

std::vector<const Spot*> PlacesOfRead::writersBefore(const Spot& spot) {
  std::vector<const Spot*> result;
  const auto here = writes.find(spot.offset);
  if (here == writes.end()) return result;
  for (const Spot& written : here->second)
    // What the thread itself has done follows what it knows.
    if (isBefore(written, spot) && (written.thread == spot.thread || residueKnown(written)))
      result.push_back(&written);
  return result;
}

std::vector<const Spot*> PlacesOfRead::writersAtAll(const Spot& spot) {
  std::vector<const Spot*> result;
  const auto here = writes.find(spot.offset);
  if (here == writes.end()) return result;
  for (const Spot& written : here->second)
    if (!model.sharedWrites[written.write].isChange) result.push_back(&written);
  return result;
}

bool PlacesOfRead::mayBeChanged(const Spot& spot) const {
  const auto here = writes.find(spot.offset);
  return changedAnywhere || perhapsChanged.contains(spot.offset) ||
         (here != writes.end() && std::ranges::any_of(here->second, [&](const Spot& written) {
            return model.sharedWrites[written.write].isChange;
          }));
}

bool PlacesOfRead::areAllKnown(const Spot& spot) {
  if (someAnywhere || perhapsWritten.contains(spot.offset)) return false;
  return std::ranges::all_of(writersAtAll(spot), [&](const Spot* written) {
    Expr rest = residueKnown(*written);
    // It is there after any round for which that holds.
    return rest && !contains(rest, [&](const Symbol* symbol) {
             return symbol->kind == SymbolKind::LoopCounter || model.roundsOf.contains(symbol);
           });
  });
}

std::vector<const Spot*> PlacesOfRead::uncovered() {
  std::vector<const Spot*> result;
  for (const Spot& piece : pieces) {
    const std::vector<const Spot*> before = writersBefore(piece);
    std::optional<std::vector<Expr>> holds; // where the thread reads
    const bool isCovered = std::ranges::any_of(before, [&](const Spot* written) {
      Expr rest = residue(*written);
      if (isTrue(rest)) return true;
      if (!holds) holds = conjunctsOf(ofRead->residue(piece));
      return std::ranges::all_of(conjunctsOf(rest),
                                 [&](Expr part) { return std::ranges::find(*holds, part) != holds->end(); });
    });
    if (!isCovered) result.push_back(&piece);
  }
  return result;
}

} // namespace kcheck::analyzer
