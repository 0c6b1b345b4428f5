// One kernel, as questions can be asked of it: what every thread accesses, where, when, under which
// condition. Made by analyzer/model/ from the device module, read by analyzer/decide/ and printed by
// --dump=model. No LLVM here.
#pragma once

#include "analyzer/expr/expr.h"
#include "report/report.h"

#include <map>
#include <set>

namespace kcheck::analyzer {

/// Assumptions about arrays that host code may still make overlap.
inline constexpr const char* kPointersApart = "pointer parameters do not overlap";

/// A memory object: an array of its own address range. Accesses to different objects never overlap.
struct MemoryObject {
  unsigned id = 0;
  std::string name; ///< `tile`, `out`
  MemorySpace space = MemorySpace::Global;
  std::optional<std::uint64_t> bytes; ///< where known
  Expr symbolicBytes = nullptr;       ///< 64 bit; where known only as an expression (dynamic shared memory)
  Location where;
  Location freed; ///< where the host has freed it before the launch; unknown: it is not known to
  unsigned elementBytes = 0;
  /// Of members of a structure that are told apart from its others: from where in it they take how many
  /// bytes.
  std::optional<std::pair<std::int64_t, std::int64_t>> part;
  bool written = false;   ///< by some thread of this kernel
  bool isUnknown = false; ///< stands for a pointer that the model could not follow; may be any global object
                          ///< and any shared one that escapes
  bool escapes = false;   ///< its address goes where it is not followed (into memory, through bits)
  bool isCode = false;    ///< a function
  bool isPlaced = true;   ///< its start lies where an allocation's would: at the start of a sector
};

/// How far an atomic operation or fence reaches.
enum class AtomicScope : std::uint8_t { None, Block, Device, System };

/// How far what stands between an access and the taking of a lock, or its giving back, orders: by itself, or
/// with one of those fences on the other side too of which there is one order.
struct LockOrder {
  AtomicScope alone = AtomicScope::None, inOneOrder = AtomicScope::None;
  bool isAny() const { return alone != AtomicScope::None || inOneOrder != AtomicScope::None; }
};

/// A lock that the thread holds around an access, or its block: then threads of other blocks that hold the
/// same one are ordered.
struct LockPlace {
  unsigned object = 0;
  Expr offset = nullptr;
  LockOrder taken, givenBack;
  bool isOfBlock = false;
  bool isByTurn = false; ///< it orders if nobody waits for a number of another: KernelModel::turns
  Location where;        ///< where it is taken
};

/// The axes of the grid along which blocks count apart, a bit for each: `atomicAdd(&count[blockIdx.y], 1)`.
using RowAxes = unsigned;
inline bool isApart(RowAxes row, unsigned axis) { return row >> axis & 1; }

/// What an access is to a counter by which blocks find out which of them comes last. What a block does before
/// it counts itself in is ordered before what the last block, of its row, does after.
struct ArrivalPlace {
  enum class Side : std::uint8_t {
    Before,
    OfThread, ///< before it where the thread is the one that does it; nothing orders the others
    Unclear,
    After
  } side = Side::Unclear;
  unsigned counter = 0; ///< which one
  RowAxes row = 0;
  Expr isOther = nullptr;  ///< OfThread: width 1, that the thread is another one
  bool needsFence = false; ///< Before: only what has a fence of its own is ordered behind it
  bool hasFence = false;   ///< After: it has
};

/// Where an atomic operation looks, what it finds there and what it leaves. Of tickets and room `found` and
/// `left` are null: these follow from the number drawn, and `offset` is null where the first operand has it.
struct AtomicUpdate {
  unsigned object = 0;
  Expr offset = nullptr, found = nullptr, left = nullptr;
  Expr differs = nullptr;   ///< width 1: what a compare-and-swap stores is other than what it expects
  std::int64_t number = 0;  ///< of the instruction; -1: one of several
  bool isFromStart = false; ///< of tickets: numbered from the first one on, wherever the counter starts
  bool isLook = false;      ///< no more than a volatile read
};

/// Of a value that a loop leaves behind: what stands for it inside, and what that is in the first round.
/// `inside` is null of a condition that only says that a loop may have waited.
struct FirstExit {
  Expr inside = nullptr, value = nullptr;
};

/// Where something was found in memory.
struct PlaceRead {
  unsigned object = 0;
  Expr offset = nullptr;
};

/// What a loop has counted: in how many of its rounds something held.
struct Tally {
  Expr holds = nullptr; ///< width 1, of `round`
  Expr round = nullptr, rounds = nullptr;
};

/// A flag that the thread, or one of its block for all, sets once it has done the access and fenced.
struct FlagAhead {
  unsigned object = 0, setter = 0; ///< KernelModel::flags
  bool isOfBlock = false;
  bool needsFence = false; ///< only who has a fence of his own is ordered behind it
};

/// What a flag has said before the access, with a fence between.
struct FlagSeen {
  unsigned object = 0;
  Expr place = nullptr;    ///< where it was looked at
  std::vector<Expr> mayBe; ///< width 1, of each setter: that it may be what was seen
  Expr isSeen = nullptr;   ///< width 1: else nobody has looked
  bool hasFence = false;
};

/// Of a barrier with phases (model/phased/), at which the thread arrives: how often it has before the access.
/// It arrives for that phase behind it.
struct PhaseAhead {
  unsigned barrier = 0;
  Expr comes = nullptr; ///< width 1: the thread is one of those that arrive
  Expr phase = nullptr; ///< 32 bit
};

/// That a phase is over when the thread comes to the access, where `isOver`.
struct PhaseSeen {
  unsigned barrier = 0;
  Expr isOver = nullptr, phase = nullptr;
};

/// Phase n of `first` is over before phase n + `distance` of `then` is.
struct PhaseOrder {
  unsigned first = 0, then = 0;
  std::int64_t distance = 0;
};

/// One access site within one phase (an inlined or unrolled site appears several times).
struct ModelAccess {
  bool stores() const { return kind != AccessKind::Read && !isLoad; }

  SiteId site = kNoSite;
  Location where;
  AccessKind kind = AccessKind::Read;
  AtomicScope scope = AtomicScope::None;
  bool isVolatile = false;
  bool isLoad = false;    ///< of an atomic: it stores nothing
  bool isOfValue = false; ///< of an atomic: it leaves the least or the greatest: no count, lock or flag
  bool isPolled =
      false; ///< a loop waits for another thread until this finds what it looks for, or it takes a lock
  /// The widest fence that may run before it, and after it: where neither of two threads has one where it
  /// would be needed, no flag or lock orders them.
  AtomicScope fenceBefore = AtomicScope::Device, fenceAfter = AtomicScope::Device;
  bool isOfBarrier = false; ///< of those by which the kernel makes a barrier of the grid
  bool inLibrary = false;   ///< in a function of a system header, though the site may be the user's call
  unsigned object = 0;
  Expr offset = nullptr;       ///< byte offset into the object, 64 bit
  Expr size = nullptr;         ///< bytes, 64 bit; a constant but for memcpy and memset
  unsigned align = 1;          ///< bytes: elsewhere the access is an error of its own, which ends the kernel
  bool isTakenAligned = false; ///< it is at multiples of that, as far as the kernel's own text tells
  Expr condition = nullptr;    ///< width 1: the thread gets here, in this phase
  Expr stored = nullptr;       ///< the value written, where known
  std::vector<LockPlace> locks;
  std::vector<ArrivalPlace> arrivals;
  std::vector<FlagAhead> flagsAhead;
  std::vector<FlagSeen> flagsSeen;
  std::vector<PhaseAhead> phasesAhead;
  std::vector<PhaseSeen> phasesSeen;
  std::vector<const void*> loops;     ///< that it is in, each by a name for it, innermost first
  std::map<std::string, Expr> locals; ///< source variables in scope and their values, for witnesses
};

/// A signed number of a loop, of 32 bits, that decides how long it goes on: each round adds `by` to it, or
/// multiplies it by that, in the last round for the question alone whether there is another one.
struct LoopStep {
  const Symbol* counter = nullptr; ///< of the rounds
  Op op = Op::Add;
  Expr value = nullptr, by = nullptr;
  unsigned line = 0;
};

/// Where a thread waits until a number is served that it has drawn, or computed.
struct LockTurn {
  ModelAccess access; ///< of the number as if that were a place
  /// Of a drawn one: the counter, and how far from it the served number is. No two of one counter are the
  /// same.
  std::optional<unsigned> counter;
  Expr distance = nullptr;
};

/// A subscript of an array in a structure of which the members are told apart.
struct SubscriptCheck {
  ModelAccess access;     ///< from the array's start
  std::int64_t bytes = 0; ///< that the array has
  bool isFollowed = true;
};

/// Two arrays that are taken to be different, of which the kernel asks itself whether they are one.
struct OneArray {
  unsigned first = 0, second = 0;
  Expr isOne = nullptr; ///< width 1
  Expr distance =
      nullptr; ///< then the second begins so many bytes behind the start of the first; null: unknown
  /// Where addresses are compared: what stands for them.
  Expr firstStart = nullptr, secondStart = nullptr;
};

/// A copy that a thread has started and may not have waited for where it accesses memory itself.
struct OwnCopy {
  ModelAccess copy, access;
};

/// Of a loop's counter: the condition for one more round, where it is all known but may fail and hold again.
struct GoingOn {
  Expr condition = nullptr, round = nullptr; ///< as a function of the round
  bool isLast = false;                       ///< of the counter of the last round
};

/// When a thread of the block writes, as seen from a read.
enum class WriteOrder : std::uint8_t {
  Before,    ///< whenever it writes: there is a barrier between
  OwnBefore, ///< of the thread that reads: it does so later, in the same round of all loops around both
  Any
};

/// A write to memory that the threads of a block share.
struct SharedWrite {
  ModelAccess access;
  bool isChange = false; ///< of what the thread has read there before: never the first write
  bool isPart = false;   ///< of the bits: the others stay as they were
};

/// A read of such memory.
struct SharedRead {
  ModelAccess access;
  bool matters = false;           ///< on every way from here something depends on the value
  bool isChange = false;          ///< what is found there is stored there again, changed
  std::vector<WriteOrder> orders; ///< of KernelModel::sharedWrites
};

/// One store to a flag, by itself, and what it is as a block's: null where it is not that of one thread.
struct FlagSetter {
  ModelAccess access;
  Expr placeOfBlock = nullptr, setsOfBlock = nullptr;
};

/// An array to which nothing is done but to look at it and, outside of loops, to store in it.
struct FlagArray {
  std::vector<FlagSetter> setters;
  std::string assumption; ///< what it holds at the start; empty: the kernel has stored that
};

/// A barrier interval: accesses of the same phase are unordered between threads of a block.
/// Phase::entry says where it begins ("kernel entry", "barrier at line 12").
struct Phase {
  std::string entry;
  Location where;
  std::vector<ModelAccess> accesses;
};

enum class BarrierReach : std::uint8_t { Warp, Group, Block, Grid };

/// A barrier and the branches that decide who reaches it: it is divergent when `condition` can be true for
/// one thread and false for another thread of the group that both satisfy `reached`.
struct BarrierControl {
  Location barrier, branch;
  BarrierReach reach = BarrierReach::Block;
  Expr reached = nullptr;
  Expr condition = nullptr;
  Expr mask = nullptr;      ///< 32 bit, of a warp barrier: only the lanes that it names must come; null: all
  Expr named = nullptr;     ///< width 1, in place of the mask: which lanes it names, where these have voted
  bool isFollowed = true;   ///< whom the mask names is known
  Expr comes = nullptr;     ///< under which a thread comes to the barrier; with a mask or votes always known
  bool isTogether = false;  ///< no barrier, but a shuffle or vote that lanes must come to together
  bool needsAll = false;    ///< of these a matrix operation, which misses lanes that have returned too
  bool othersExit = false;  ///< who does not come to the barrier runs off the end of the kernel
  bool othersLeave = false; ///< of what lanes must come to together: they do so on their way to the end
  bool othersMeet = false;  ///< who does not come to the warp barrier may come to another one: they meet too
  bool isOfSome() const { return mask || named; }
};

/// A call of a warp collective or of `__syncwarp` with a mask.
struct LaneCall {
  Location where;
  Expr unnamed = nullptr; ///< under which a thread comes whose lane the mask leaves out
  bool isFollowed = true; ///< whom the mask names is known
};

/// A shuffle that may read from a lane that takes no part in it.
struct StrayRead {
  Location where;
  Expr strays = nullptr; ///< width 1: that it does
};

/// What the model leaves out or bends, with the line; a proof of the named properties cannot rest on it.
struct ModelGap {
  Location where;
  std::string what;
  bool affectsRaces = true, affectsBarriers = false, affectsBounds = true;
};

/// A number in a structure that is a parameter, as the program calls it.
struct FieldName {
  std::string name;
  bool isUnsigned = false;
  bool isPointer = false;
};

struct KernelModel {
  const Kernel* kernel = nullptr;
  std::vector<MemoryObject> objects;
  std::vector<Phase> blockPhases; ///< cut at block barriers: for races within a block
  std::vector<Phase> gridPhases;  ///< cut at grid barriers only (usually one): for races between blocks
  std::vector<Phase>
      warpPhases; ///< cut at block and warp barriers: for races within a warp; empty: as blockPhases
  /// Where some `__syncwarp` names some lanes only: cut at those as well, for lanes that all masks name
  /// together. `warpPhases` are then for lanes that some mask parts.
  std::vector<Phase> lanePhases;
  std::vector<Expr> laneMasks; ///< 32 bit
  /// Where there are named barriers: cut at those as well, for threads that come to the same ones.
  /// `blockPhases` are then for those that do not.
  std::vector<Phase> groupPhases;
  std::vector<Expr> groups; ///< 32 bit, of each barrier: by which name the thread comes to it; 0: not at all
  Expr laneDoubt = nullptr; ///< width 1: what the masks part may yet be ordered; null: it is not
  std::vector<BarrierControl> barriers;
  std::vector<LaneCall> laneCalls;
  std::vector<StrayRead> strays;
  bool takesWholeWarps = false; ///< shuffles read from lanes that are there where blocks are of whole warps,
  bool hasPartOfWarp = false;   ///< and these are not
  std::vector<Expr> facts;      ///< width 1, true in every execution (assumes, no-overflow lemmas)
  std::vector<std::string> assumptions; ///< named in the report when a proof uses them
  std::vector<ModelGap> gaps;
  std::vector<SubscriptCheck> subscripts;
  bool breaksAssumption = false; ///< this launch does, of a `__builtin_assume` or of how many threads it has
  std::vector<OwnCopy> ownCopies;
  std::vector<SharedRead> sharedReads;
  std::vector<SharedWrite> sharedWrites;
  std::map<const Symbol*, const void*> roundsOf; ///< of what changes from round to round of a loop: which
  std::map<const Symbol*, GoingOn> goingOn;      ///< by counters that are not exact for that reason
  std::set<const void*> loopsLeftByData;         ///< of these: rounds may come or not for all that is known
  std::string sharedDoubt;                       ///< why these lists say too little; empty: they do not
  std::vector<OneArray> mayBeOne;
  std::vector<PhaseOrder> phaseOrders; ///< each barrier with itself too
  std::map<unsigned, FlagArray> flags; ///< by object
  std::map<unsigned, std::vector<LockTurn>>
      turns;                                 ///< of locks that are taken in turn, all of them, by object
  std::set<unsigned> openTurns;              ///< objects where it is not known for which numbers threads wait
  std::map<const Symbol*, Expr> firstValues; ///< of what loops change, in their first round
  std::map<const Symbol*, FirstExit>
      firstExits; ///< of what loops leave behind that end with their first round
  std::map<const Symbol*, std::vector<Expr>>
      madeFrom; ///< of what loops change: its values in first and later rounds
  std::map<const Function*, unsigned> contents; ///< of what stands for what an object holds: which
  std::map<unsigned, std::map<std::int64_t, FieldName>> fields; ///< of such structures, by object and byte
  std::map<const Function*, Expr> ownContents; ///< what each thread knows of contents: width 1, true
  std::map<const Symbol*, std::vector<PlaceRead>> readAt; ///< of what was found in memory, and no more
  /// Those of them that are what the launch found there, where the thread is early enough, in a kernel on its
  /// own.
  std::set<const Symbol*> foundAtLaunch;
  std::map<const Symbol*, AtomicUpdate> updates; ///< of results that are nothing more than that
  std::map<const Function*, AtomicUpdate> draws; ///< of tickets, room, and who has won at a place
  std::map<const Symbol*, Tally> tallies;        ///< of what stands for the count behind a loop
  std::map<const Symbol*, bool> counts; ///< what threads of a block have counted together; true: one by one
  std::map<const Function*, bool> countsOfRounds;         ///< the same, in each round of loops
  std::map<const void*, std::vector<LoopStep>> loopSteps; ///< by the names of ModelAccess::loops
  std::set<Expr> loopEnds; ///< width 1: that the condition at a loop's head fails in its first round
  /// Width 1, true wherever threads come to: fewer lanes below one have voted than have voted at all.
  std::set<Expr> laneFacts;
  std::set<const Symbol*> underLocks; ///< conditions that only say that a lock may be held
  bool readsTextures = false;         ///< whose memory is not in sight
  bool waits = false;                 ///< some loop goes on until another thread has stored something
  bool ordersByPtx =
      false; ///< acquires or releases in inline PTX may order threads in ways not followed here
  /// Where the program launches the kernel in a size that the source does not show: what a witness in a
  /// launch that large leans on. Empty: the size is known, or free by the question.
  std::string hiddenSize;
  /// A condition on the way to the launch, of its size or its numbers, of which it is open when it holds.
  std::string unfollowedAt;
  Expr threadIdx[3] = {}, blockIdx[3] = {}, blockDim[3] = {},
       gridDim[3] = {}; ///< 32 bit; constants where fixed
};

/// The constant that a counter of each block begins with: all that its threads store there.
std::optional<std::int64_t> startOf(const KernelModel& model, unsigned object);

/// The text of --dump=model.
std::string dump(const KernelModel& model);

} // namespace kcheck::analyzer
