// Has somebody written what is read of shared memory? All threads of a block of known shape are gone through:
// where each reads, and who has written there whenever that one reads. What these hang on besides, such as
// the sizes that the kernel is given, is a question of one thread.
#include "analyzer/decide/checks.h"

#include "analyzer/clock.h"
#include "analyzer/decide/places.h"

#include <algorithm>

namespace kcheck::analyzer {
namespace {

constexpr double kMostSeconds = 2; ///< for a kernel
constexpr std::size_t kMostOpen = 256, kMostTries = 6;

class FirstReads {
public:
  explicit FirstReads(const Check& check)
      : c(check), context(check.decider.view().context), answer(Property::Initialized),
        begun(threadSeconds()) {}

  PropertyResult run() {
    const std::string doubt = whyNot();
    if (!doubt.empty()) answer.doubt(doubt);
    for (const std::string& assumption : c.model.assumptions) answer.assume(assumption);
    if (doubt.empty())
      for (const SharedRead& read : c.model.sharedReads) ask(read);
    PropertyResult result = answer.finish();
    result.runAlone = result.answer == Answer::Unknown;
    return result;
  }

private:
  std::string whyNot() const {
    for (const ModelGap& gap : c.model.gaps)
      if (gap.affectsRaces || gap.affectsBounds) return lineOf(gap.where) + ": " + gap.what;
    if (!c.model.sharedDoubt.empty()) return c.model.sharedDoubt;
    for (Expr extent : c.model.blockDim)
      if (extent && !isConst(extent)) return "the shape of the block is not known";
    return {};
  }

  void leaveOpen(const SharedRead& read) {
    const std::string& array = c.model.objects[read.access.object].name;
    answer.doubt(lineOf(read.access.where) + ": whether what is read of `" + array +
                 "` has been written is looked for in the run alone");
  }

  void ask(const SharedRead& read) {
    if (isFalse(read.access.condition)) return;
    if (threadSeconds() - begun > kMostSeconds || c.decider.secondsLeft() <= 0) return leaveOpen(read);
    const bool isKnown = std::ranges::any_of(c.model.sharedWrites, [&](const SharedWrite& write) {
      return write.access.object == read.access.object && !write.isChange;
    });
    if (!isKnown) return tellNeverWritten(read);
    PlacesOfRead places(c.decider.view(), c.model, read, spots);
    if (!places.find()) return leaveOpen(read);
    std::vector<const Spot*> open = places.uncovered();
    if (open.empty() || isCovered(read, places, open)) return;
    if (!tell(read, places, std::move(open))) leaveOpen(read);
  }

  ModelAccess& under(const ModelAccess& access, Expr condition) {
    ModelAccess& made = c.answers.narrowed->emplace_back(access);
    made.condition = context.logicalAnd(access.condition, condition);
    return made;
  }

  /// Whether a thread comes there.
  Verdict comes(const ModelAccess& access) {
    ModelAccess& made = c.answers.narrowed->emplace_back(access);
    made.offset = context.constant(64, 0);
    made.size = context.constant(64, 1);
    return c.decider.leaves(made, context.constant(64, 0));
  }

  bool never(const ModelAccess& access) {
    const Verdict verdict = comes(access);
    if (verdict.outcome != Verdict::Outcome::Never) return false;
    if (verdict.assumesNoWrap)
      for (const std::string& text : c.decider.wrapAssumptions(access)) answer.assume(text);
    return true;
  }

  /// Whether somebody has written whenever one of these threads reads.
  bool isCovered(const SharedRead& read, PlacesOfRead& places, const std::vector<const Spot*>& open) {
    if (open.size() > kMostOpen) return false;
    Expr unwritten = context.boolean(false);
    for (const Spot* spot : open) {
      Expr here = places.isThere(*spot);
      for (const Spot* writer : places.writersBefore(*spot))
        here = context.logicalAnd(here, context.logicalNot(places.residue(*writer)));
      unwritten = context.logicalOr(unwritten, here);
    }
    return never(under(read.access, unwritten));
  }

  /// That somebody writes there, sooner or later.
  Expr written(PlacesOfRead& places, const Spot& spot) {
    Expr result = context.boolean(false);
    for (const Spot* writer : places.writersAtAll(spot))
      result = context.logicalOr(result, places.residue(*writer));
    return result;
  }

  /// Every value that the condition allows comes: a thread of some block has it, in some round.
  static bool followsThreadsAlone(Expr condition) {
    return !anyNode(condition, [](Expr n) {
      return n->op == Op::Apply ||
             (n->op == Op::Symbol && !isIndex(n) && n->symbol->kind != SymbolKind::LoopCounter);
    });
  }

  /// Where the read stays in its array: beyond it, that it does is the mistake.
  bool isWithin(const SharedRead& read, const Spot& spot) const {
    const std::optional<std::uint64_t>& bytes = c.model.objects[read.access.object].bytes;
    return !bytes || (spot.offset >= 0 && spot.offset + spot.bytes <= static_cast<std::int64_t>(*bytes));
  }
  Expr isWithin(const ModelAccess& access) {
    const std::optional<std::uint64_t>& bytes = c.model.objects[access.object].bytes;
    if (!bytes || *bytes < static_cast<std::uint64_t>(access.size->value)) return context.boolean(!bytes);
    const auto last = static_cast<std::int64_t>(*bytes) - access.size->value;
    return context.binary(Op::Ule, access.offset, context.constant(64, last));
  }

  /// Looks for a thread that reads where nobody can have written whenever it does.
  bool tell(const SharedRead& read, PlacesOfRead& places, std::vector<const Spot*> open) {
    if (!read.matters || !places.areWhole()) return false;
    std::erase_if(open, [&](const Spot* spot) { return !isWithin(read, *spot); });
    // What others change first is told there.
    if (!read.isChange) std::erase_if(open, [&](const Spot* spot) { return places.mayBeChanged(*spot); });
    Expr unwritten = context.boolean(false);
    for (const Spot* spot : open)
      if (places.areAllKnown(*spot))
        unwritten = context.logicalOr(
            unwritten, context.logicalAnd(places.isThere(*spot), context.logicalNot(written(places, *spot))));
    if (isFalse(unwritten)) return false;
    ModelAccess& somewhere = under(read.access, unwritten);
    if (followsThreadsAlone(somewhere.condition)) return tellAt(somewhere, false);
    std::ranges::sort(open, {},
                      [&](const Spot* spot) { return std::pair(places.writersAtAll(*spot).size(), spot); });
    std::size_t tries = 0;
    for (const Spot* spot : open) {
      if (++tries > kMostTries) return false;
      if (!places.areAllKnown(*spot)) continue;
      const Expr here = places.isThere(*spot), byOthers = written(places, *spot);
      if (!isFalse(byOthers) && !never(under(read.access, context.logicalAnd(here, byOthers)))) continue;
      if (tellAt(under(read.access, here), false)) return true;
    }
    return false;
  }

  /// What others change first is told there.
  void tellNeverWritten(const SharedRead& read) {
    const bool areChanged = std::ranges::any_of(c.model.sharedReads, [&](const SharedRead& other) {
      return other.access.object == read.access.object && other.isChange;
    });
    if (areChanged && !read.isChange) return leaveOpen(read);
    if (never(read.access)) return;
    if (!read.matters || !tellAt(under(read.access, isWithin(read.access)), true)) leaveOpen(read);
  }

  bool tellAt(const ModelAccess& access, bool isNeverWritten) {
    const Verdict verdict = comes(access);
    if (verdict.outcome != Verdict::Outcome::Happens) return false;
    Witness witness = c.decider.witness(verdict, access, nullptr, Relation::SameBlock);
    if (!witness.exact()) return false;
    answer.refute();
    if (!told.insert(access.site).second) return true;
    c.answers.unwritten.push_back({&access, isNeverWritten, std::move(witness)});
    return true;
  }

  Check c;
  ExprContext& context;
  PropertyAnswer answer;
  double begun;
  KnownSpots spots;
  std::set<SiteId> told;
};

} // namespace

PropertyResult checkFirstReads(Check check) { return FirstReads(check).run(); }

} // namespace kcheck::analyzer
