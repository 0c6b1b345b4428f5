// Asks everything that there is to ask of a complete kernel model: races between every pair of accesses,
// divergence at every barrier, bounds of every access. One call per model; the caller words the results.
#pragma once

#include "analyzer/kernel_model.h"

#include <deque>
#include <memory>
#include <optional>
#include <set>

namespace kcheck::analyzer {

/// The two threads of a question: members of one warp, of one block but different warps, of one block, of
/// different blocks; members of one warp that some barrier of lanes does not name together; of different
/// warps of one block that come to the same named barriers, or do not.
enum class Relation : std::uint8_t {
  SameWarp,
  DifferentWarps,
  SameBlock,
  DifferentBlocks,
  LanesApart,
  SameGroup,
  GroupsApart
};

/// One thread of a witness. `values` are the thread's own: loop counters, unknowns, the source variables of
/// ModelAccess::locals, by name.
struct WitnessThread {
  Dim3 thread{0, 0, 0}, block{0, 0, 0};
  std::vector<std::pair<std::string, std::int64_t>> values;
  std::int64_t offset = 0; ///< bytes from the start of the object
  std::int64_t bytes = 0;
  std::optional<std::int64_t> stored; ///< the value written, where known
};

/// Values for which the conditions of a question hold, checked by evaluation.
struct Witness {
  WitnessThread first, second; ///< second only for questions about two threads
  Dim3 blockDim, gridDim;
  std::vector<std::pair<std::string, std::int64_t>> shared; ///< parameters and other values common to both
  std::vector<std::string> implied; ///< names of loop counters that variables among the values tell of
  std::vector<Cause> causes;        ///< what of the values is approximate; empty: exact
  bool exact() const { return causes.empty(); }
  bool leansOn(CauseKind kind) const {
    for (const Cause& cause : causes)
      if (cause.kind == kind) return true;
    return false;
  }
};

struct RaceResult {
  const ModelAccess* first = nullptr; ///< the write, where only one writes
  const ModelAccess* second = nullptr;
  const Phase* phase = nullptr;
  unsigned object = 0;
  RaceScope scope = RaceScope::None;
  RaceKind kind = RaceKind::None;
  bool scopeTooNarrow = false; ///< both atomic, but of a scope that does not reach the other thread
  bool sameValue = false;      ///< whenever they meet, both write the same value
  bool inSequence = false;     ///< some order of the threads at their atomic operations brings it about
  bool takesSizes = false;     ///< it takes numbers of the launch that nobody means (decide/usual_sizes)
  std::string ascending;       ///< it takes elements of this array that do not ascend
  std::string lengths;  ///< it takes rows that begin where `ascending` says before those of this length end
  std::string distinct; ///< or elements of this one that are equal
  Witness witness;
};

struct DivergenceResult {
  const BarrierControl* control = nullptr;
  Witness witness; ///< the first thread takes `condition`, the second does not
};

struct LaneCallResult {
  const LaneCall* call = nullptr;
  Witness witness; ///< first only
};

struct BoundsResult {
  const ModelAccess* access = nullptr;
  unsigned object = 0;
  Witness witness; ///< first only
};

/// An access at no multiple of what its type asks for.
struct AskewResult {
  const ModelAccess* access = nullptr;
  Witness witness; ///< first only
};

struct UnwrittenResult {
  const ModelAccess* access = nullptr;
  bool isNeverWritten = false; ///< by no thread of any launch
  Witness witness;             ///< first only
};

/// How the questions were decided, for --dump and for tests.
struct Counters {
  unsigned questions = 0;                ///< that needed any thought
  unsigned arithmetic = 0;               ///< decided by ranges and linear forms
  unsigned search = 0;                   ///< refuted by trying values
  unsigned integers = 0, bitVectors = 0; ///< decided by the solver, per theory
  unsigned timeouts = 0, unknown = 0;
  double solverSeconds = 0;
};

struct Limits {
  double kernelSeconds = 10;
  unsigned questionMilliseconds = 1000;
  unsigned findingsPerSitePair = 1;
  bool useSolver = true;
  bool proofOnly = false; ///< no witnesses are wanted: a property is left where it can no longer be proved
};

struct KernelAnswers {
  /// Accesses of the model under more than it says, where a race is one of some threads only.
  std::shared_ptr<std::deque<ModelAccess>> narrowed = std::make_shared<std::deque<ModelAccess>>();
  std::vector<RaceResult> races; ///< at most Limits::findingsPerSitePair for a pair of sites and scope
  std::vector<std::pair<const ModelAccess*, const ModelAccess*>>
      unfollowed; ///< whether a fence or a wait orders these
  std::vector<DivergenceResult> divergences;
  std::vector<LaneCallResult> laneCalls; ///< of lanes that the mask leaves out
  /// Why threads may not meet at every barrier, those that are left of them; shuffles and votes order
  /// nothing.
  std::string missedBarriers;
  std::vector<BoundsResult> bounds;
  std::vector<AskewResult> askew;
  std::vector<UnwrittenResult> unwritten; ///< reads of shared memory that nobody has written
  /// Whether what is read of shared memory has been written; nothing where none is read.
  std::optional<PropertyResult> initialized;
  /// RaceFree, BarriersUniform and InBounds, each with the reason of an Unknown (line and cause) and the
  /// assumptions of a Proved. `holdsFor` is the caller's to fill in: it knows what the model was made for.
  std::vector<PropertyResult> properties;
  std::set<SiteId> safeSites; ///< every question about the site was answered, none against it
  Counters counters;
};

/// Results point into `model` and `KernelAnswers::narrowed`. New nodes (the copies of the two threads) are
/// made in `context`, which must be the one that the model's expressions come from.
KernelAnswers decide(const KernelModel& model, ExprContext& context, const Limits& limits = {});

} // namespace kcheck::analyzer
