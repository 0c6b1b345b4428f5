// One question at a time: arithmetic first, then a search for values, then the solver.
#pragma once

#include "analyzer/decide/copies.h"
#include "analyzer/decide/overlap.h"
#include "analyzer/decide/races.h"
#include "analyzer/expr/evaluate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace kcheck::analyzer {

namespace smt {
struct Query;
struct Answer;
} // namespace smt

/// Two accesses (or, without offsets, two conditions) of two different threads.
struct PairQuestion {
  const ModelAccess* a = nullptr;
  const ModelAccess* b = nullptr;
  Relation relation = Relation::SameBlock;
  Expr mask = nullptr; ///< where given: that of the first names the lane of the second
};

struct Verdict {
  enum class Outcome : std::uint8_t {
    Never,   ///< proved for all values
    Happens, ///< `values` show it
    Unknown, ///< `reason`
  };
  Outcome outcome = Outcome::Unknown;
  Assignment values;
  bool assumesNoWrap = false; ///< Never, provided that the arithmetic of both accesses does not wrap
  std::string reason;
  std::vector<Expr> constraints; ///< of Happens: what the values satisfy
  std::vector<Cause> leans;      ///< of Happens: on what, besides what the constraints say

  static Verdict never(bool assumesNoWrap = false);
};

/// Whether an access is at multiples of what its type asks for.
struct Alignment {
  enum class Kind : std::uint8_t {
    Kept,
    Open,  ///< that hangs on what the launch brings along, or is not known
    Broken ///< `askew` shows it
  };
  Kind kind = Kind::Kept;
  Verdict askew;
};

/// Whether a barrier with phases may order the two.
bool haveCommonPhases(const KernelModel& model, const ModelAccess& a, const ModelAccess& b);

/// A proof that rests on an assumption which the access itself refutes is none.
void withdrawWhereWrapped(Verdict& verdict, const ModelAccess& access);

/// One way to come to an access, for proofs that go through all of them in turn.
struct Arm {
  Expr condition, offset, size;
};

/// Answers questions about one kernel within its time budget.
class Decider {
public:
  Decider(const KernelModel& model, ExprContext& context, const Limits& limits);
  ~Decider();

  /// Whether the two threads of the question touch a common byte (or, without offsets, satisfy both
  /// conditions). Conflict is the caller's to look at.
  Verdict meet(const PairQuestion& question);
  /// As `meet`, with different values stored. Both accesses must have `stored` of one width.
  Verdict meetWithDifferentValues(const PairQuestion& question);
  /// As `meet`, where all that may order the two threads are the tickets that they draw from one counter at
  /// one place: with one ticket right after the other, which some order of the threads brings about.
  /// `causes`, of the witness without that, becomes what the new one leans on. Nothing where that does not
  /// happen.
  std::optional<Verdict> meetAsNeighbours(const PairQuestion& question, std::vector<Cause>& causes);
  /// The same where all that may order the threads are places among the lanes that voted: any of them may.
  std::optional<Verdict> meetAmongVoters(const PairQuestion& question, std::vector<Cause>& causes);
  /// The same for what other atomic operations find, and several of them: what the thread right before has
  /// left.
  std::optional<Verdict> meetInSequence(const PairQuestion& question, std::vector<Cause>& causes);
  /// The same where nothing lets one thread know what another has done: all atomic operations of the one, at
  /// whatever places, come before all of the other.
  std::optional<Verdict> meetUnfenced(const PairQuestion& question, std::vector<Cause>& causes);
  /// The same where one of the threads goes on when so many others have been counted, of a number that leaves
  /// the other's block out.
  std::optional<Verdict> meetBeforeLast(const PairQuestion& question, std::vector<Cause>& causes);
  /// Whether a thread accesses bytes outside 0..bytes (64-bit expression).
  Verdict leaves(const ModelAccess& access, Expr bytes);

  const Alignment& alignmentOf(const ModelAccess& access);

  /// Whether the thread's own copy and access touch a common byte.
  Verdict meetsOwn(const OwnCopy& own);

  /// A readable account of a Happens; `b` null for a question about one thread.
  Witness witness(const Verdict& verdict, const ModelAccess& a, const ModelAccess* b, Relation relation);
  /// Whether a Happens leans on no approximation.
  bool isExact(const Verdict& verdict, std::optional<Relation> relation) {
    return causes(verdict.constraints, verdict.values, relation).empty();
  }
  RaceScope scopeOf(const Assignment& values, Relation relation);
  /// Whether both threads of a Happens store what is known to be the same.
  bool storesTheSame(const Verdict& verdict, const PairQuestion& question);
  /// What a proof about the access rests on besides the program text, in words.
  const std::vector<std::string>& wrapAssumptions(const ModelAccess& access);
  /// The same of signed arithmetic, which the language lets nobody leave its type by.
  const std::vector<std::string>& signedAssumptions(const ModelAccess& access);

  /// Whether the kernel asks itself whether arithmetic has wrapped, and does or places this by it: then
  /// nothing is assumed that would answer that.
  bool happensOnlyWrapped(const ModelAccess& access);

  /// Whether the kernel does or places this by a condition that may hold, and not where `wanted` does.
  bool asksAgainst(const ModelAccess& access, Expr wanted);

  /// Asks where it is not worth the solver's whole time.
  template <typename Ask> Verdict quickly(const Ask& ask) {
    constexpr double kQuick = 200; // milliseconds
    const double usual = std::exchange(patience, std::min(patience, kQuick));
    Verdict verdict = ask();
    patience = usual;
    return verdict;
  }

  double secondsLeft() const;
  KernelView& view() { return kernel; }
  Counters counters;

private:
  class Sequence; ///< sequences.cpp
  class Runs;     ///< unfenced.cpp
  AccessView& viewOf(const ModelAccess& access, Ranges::Wrapping wrapping);
  std::optional<Verdict> provesApart(const PairQuestion& question, Ranges::Wrapping wrapping);

  Verdict meetIfPlausible(const PairQuestion& question);
  Verdict leavesIfPlausible(const ModelAccess& access, Expr bytes);

  // wrap_assumptions.cpp
  bool isShownOnlyWrapped(const ModelAccess& access);
  bool happensWithoutWrap(const ModelAccess& access, Expr condition);
  bool comesOnlyWrapped(Expr condition, Expr sizes);
  bool wrapsInRounds(const ModelAccess& access);
  bool isDecidedBy(Expr condition, Expr offset, Expr wanted);
  bool contradicts(Expr condition);
  bool mayAssumeNoWrap(const PairQuestion& question);

  // last_steps.cpp
  std::vector<const LoopStep*> farSteps(const ModelAccess& access);
  void assumeSteps(const ModelAccess& access, std::vector<std::string>& assumptions);
  void withdrawWhereStepped(Verdict& verdict, const ModelAccess& access);

  // turns.cpp
  bool haveOwnTurns(unsigned object);
  bool areApart(const LockTurn& one, const LockTurn& other, bool isShared);

  // flags.cpp
  bool neverMeet(const ModelAccess& one, const ModelAccess& other, bool isShared);
  bool setApart(unsigned object, unsigned one, unsigned other);
  bool mayBeToldApart(const FlagSeen& seen);
  Expr unseen(const ModelAccess& earlier, unsigned thread, const FlagSeen& seen, Relation relation);
  std::vector<Expr> unorderedByFlags(const PairQuestion& question);

  // phases.cpp
  std::vector<Expr> unorderedByPhases(const PairQuestion& question);

  // meeting.cpp
  std::vector<std::pair<Expr, Expr>> commonLocks(const PairQuestion& question);
  std::vector<Expr> meetingConstraints(const PairQuestion& question);
  Expr overlapping(const PairQuestion& question);

  // solver_queries.cpp
  Verdict solve(std::vector<Expr> constraints, std::optional<Relation> relation);
  Verdict askSolver(std::vector<Expr> constraints, std::optional<Relation> relation,
                    Ranges::Wrapping wrapping = Ranges::Wrapping::Assumed);
  bool areContradictory(const std::vector<Expr>& constraints, Ranges& ranges);
  smt::Query queryOf(std::vector<Expr> constraints, Ranges& ranges, std::optional<Relation> relation);
  Verdict verdictOf(smt::Answer answer, smt::Query query);
  std::vector<std::vector<Expr>> preferences(std::optional<Relation> relation);
  std::vector<Expr> definedness(const std::vector<Expr>& constraints);
  std::vector<std::vector<Expr>> guesses(const std::vector<Expr>& constraints);

  /// Arithmetic once more for every value of a symbol of few values: table lookups, powers of two.
  bool provesByRounds(const PairQuestion& q, Ranges::Wrapping wrapping,
                      const std::unordered_set<Expr>& decisive);
  bool provesByCases(const PairQuestion& question, Ranges::Wrapping wrapping);
  bool provesBySign(const PairQuestion& question, Ranges::Wrapping wrapping);
  bool provesByNames(const PairQuestion& q, Ranges::Wrapping wrapping);
  bool provesByRanks(const PairQuestion& q, bool& assumesNoWrap);
  struct Parts {
    std::vector<Arm> arms;
    std::optional<std::deque<AccessView>> possible;
  };
  Parts& partsOf(const ModelAccess& access, Ranges::Wrapping wrapping);
  std::deque<AccessView>& possibleArms(Parts& parts, Ranges::Wrapping wrapping);
  bool provesByArms(const PairQuestion& q, Ranges::Wrapping wrapping);
  /// That no place among voters lies beyond the lane's own, for lanes vote as they like.
  struct Places {
    std::vector<Expr> constraints;
    std::vector<Cause> causes;
    bool inBoth = false; ///< both addresses follow one
  };
  Places placesAmongVoters(const PairQuestion& question);
  std::optional<std::uint64_t> comers(const ModelAccess& access, bool ofBlock);
  bool provesWithin(AccessView& view, Expr bytes);
  /// By trying out all that the two threads can be, where that is not much.
  std::optional<Verdict> tryAll(const PairQuestion& q, Ranges::Wrapping wrapping,
                                const std::vector<Expr>& constraints);
  /// Values for which two threads meet, from the offsets of many; for questions that the solver leaves open.
  std::optional<Assignment> searchCollision(const PairQuestion& question,
                                            const std::vector<Expr>& constraints);
  Verdict happens(Assignment values, std::vector<Expr> constraints);
  std::vector<Expr> withoutLaneFacts(std::vector<Expr> constraints, std::optional<Relation> relation);
  std::vector<Cause> causes(const std::vector<Expr>& all, const Assignment& values,
                            std::optional<Relation> relation);
  bool roundComes(const Symbol& counter, const Assignment& values, std::optional<Relation> relation);
  const MemoryObject* tornIn(const std::vector<Expr>& constraints, const Assignment& values,
                             std::optional<Relation> relation);
  bool isFoundAtLaunch(const Symbol& symbol);
  bool happensInUsualSizes(const Verdict& verdict, std::optional<Relation> relation);

  const Limits limits;
  double start;    ///< on the thread's clock
  double patience; ///< milliseconds for the next question to the solver; shrinks with every timeout
  double collisionSeconds = 0, enumerationSeconds = 0;
  KernelView kernel;
  Copies copies;
  std::unordered_map<const ModelAccess*, std::unique_ptr<AccessView>> views[2];
  std::unordered_map<const ModelAccess*, Parts> parts[2];
  std::unordered_map<const ModelAccess*, std::vector<std::string>> assumptions, ofSigned;
  std::unordered_map<const ModelAccess*, bool> onlyWrapped;
  std::unordered_map<Expr, bool> contradictions; ///< by condition
  std::map<std::tuple<Expr, Expr, unsigned>, Alignment>
      alignments;                                         ///< by offset, condition and what is asked
  std::map<std::pair<Expr, Expr>, bool> shownOnlyWrapped; ///< by condition and offset
  std::map<std::tuple<unsigned, unsigned, unsigned>, bool> flagsSetApart; ///< by object and two setters
  std::map<unsigned, bool> ownTurns;                                      ///< by object
  std::deque<ModelAccess> alone;                                          ///< by themselves
};

} // namespace kcheck::analyzer
