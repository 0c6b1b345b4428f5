// What all symbolic runs of one kernel share: its symbols, memory objects, the facts found so far, and what
// the model cannot say.
#pragma once

#include "analyzer/model/arrival_rows.h"
#include "analyzer/model/arrivals.h"
#include "analyzer/model/async_copies.h"
#include "analyzer/model/barriers.h"
#include "analyzer/model/broadcasts.h"
#include "analyzer/model/fences.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/lane_stores.h"
#include "analyzer/model/locks.h"
#include "analyzer/model/model_builder.h"
#include "analyzer/model/phased/phased_barriers.h"
#include "analyzer/model/sightings.h"
#include "analyzer/model/surroundings.h"
#include "analyzer/model/warp_values.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace kcheck::analyzer {

/// A run executes the kernel from one start; a layer is the part of a phase behind the back edge of an
/// enclosing loop. Rounds tell the iterations of loops apart that are run one by one. Values of different
/// runs, layers or rounds are different.
struct RunId {
  unsigned run = 0, layer = 0, round = 0;
  bool sameLayer(const RunId& other) const { return run == other.run && layer == other.layer; }
  friend auto operator<=>(const RunId&, const RunId&) = default;
};

/// Makes symbols with readable and unique names. The same key gives the same symbol again.
class SymbolTable {
public:
  explicit SymbolTable(ExprContext& exprs) : exprs(&exprs) {}
  Symbol* get(const void* value, const std::string& role, RunId run, const std::string& name, unsigned width,
              SymbolKind kind);
  Symbol* plain(const std::string& name, unsigned width, SymbolKind kind, Int lo, Int hi);
  /// A function of this name, or of this name with ticks where it is taken by another key.
  Function* function(const void* key, const std::string& role, const std::string& name, unsigned width);

private:
  struct Key {
    const void* value;
    std::string role;
    RunId run;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static std::string unique(std::map<std::string, unsigned>& taken, const std::string& name);

  ExprContext* exprs;
  std::map<Key, Symbol*> known;
  std::map<std::tuple<const void*, std::string, unsigned>, Function*> functions;
  std::map<std::string, unsigned> symbolNames, functionNames;
};

/// Where a pointer may point, with the condition for it.
struct Place {
  Expr guard = nullptr;
  unsigned object = 0;
  Expr offset = nullptr;
};

/// Bytes of an object; all there may be.
struct Reach {
  std::int64_t from = std::numeric_limits<std::int64_t>::min();
  std::int64_t to = std::numeric_limits<std::int64_t>::max(); ///< behind the last
  bool contains(std::int64_t at) const { return from <= at && at < to; }
  bool meets(const Reach& other) const { return from < other.to && other.from < to; }
  auto operator<=>(const Reach&) const = default;
};

/// The memory objects of a kernel and the pointers into them. A pointer is an expression of width 64: an
/// object's symbol plus a byte offset, or a choice between such.
class ObjectTable {
public:
  ObjectTable(ExprContext& exprs, SymbolTable& symbols) : exprs(&exprs), symbols(&symbols) {}

  /// The object of `key`, made from `fresh` when new.
  unsigned object(const std::string& key, const MemoryObject& fresh);
  Expr pointerTo(unsigned object);
  const std::string& keyOf(unsigned object) const { return keys[object]; }
  unsigned unknown(); ///< the object of pointers that could not be followed
  std::vector<Place> places(Expr pointer);
  bool isPointer(Expr e);
  /// Notes that whatever objects `e` mentions can be reached in ways that are not followed.
  void letEscape(Expr e);
  MemoryObject& operator[](unsigned id) { return objects[id]; }
  std::size_t size() const { return objects.size(); }
  std::vector<MemoryObject>& all() { return objects; }

private:
  void split(Expr pointer, Expr guard, Expr offset, std::vector<Place>& out, unsigned depth);

  ExprContext* exprs;
  SymbolTable* symbols;
  std::vector<MemoryObject> objects;
  std::vector<std::string> keys;
  std::map<std::string, unsigned> byKey;
  std::unordered_map<const Symbol*, unsigned> bySymbol;
  std::vector<Symbol*> symbolOf;
  std::unordered_map<Expr, bool> pointerMemo;
};

/// What threads do to an object that they may share out work with.
struct Update {
  enum class Kind : std::uint8_t {
    Add,
    Room,
    Round,
    Claim,
    Exchange,
    Mark,  ///< sets bits
    Clear, ///< takes bits away
    Other
  } kind = Kind::Other;
  /// Of room: that what is added may be negative as well, for all that the kernel says of it.
  static constexpr std::int64_t kTakenForAmount = 1;
  /// What is added, where a counter goes round (negative: one that counts down), what a compare-and-swap
  /// expects, what an exchange stores.
  std::int64_t value = 0;
  friend auto operator<=>(const Update&, const Update&) = default;
  /// What it finds is a number that nobody else gets.
  bool isTicket() const { return kind == Kind::Add || kind == Kind::Room || kind == Kind::Round; }
  /// It only ever moves a counter up, by whatever a thread needs.
  bool drawsUp() const { return kind == Kind::Room || (kind == Kind::Add && value > 0); }
  bool isSurelyUp() const { return drawsUp() && !(kind == Kind::Room && value == kTakenForAmount); }
  /// What all of several find is room, of one size or of many.
  bool isAlike(const Update& other) const { return *this == other || (drawsUp() && other.drawsUp()); }
};

/// That the values in a part of an array differ from one another, or ascend.
struct ArrayPromise {
  Expr start = nullptr, end = nullptr; ///< byte offsets, 64 bit
  Expr condition = nullptr;            ///< under which a thread comes to say so
  Expr count = nullptr;                ///< elements, 64 bit
  unsigned bits = 32;                  ///< of an element
  bool differ = false;
  bool isPermutation = false; ///< they are the numbers below count
  bool ascend = false;
  bool arePositive = false; ///< none is negative as a signed number
};

/// A store to a flag. `value` where it always stores the same.
struct FlagStore {
  const llvm::Instruction* store = nullptr;
  std::optional<std::int64_t> value;
  friend bool operator==(const FlagStore&, const FlagStore&) = default;
};

/// One loop in closed form in one run: what decides whether its counter is the same for all threads.
struct LoopRecord {
  struct Open {
    Symbol *inside, *after;
    Expr start, latch;
  };
  const llvm::Loop* loop = nullptr;
  RunId run;
  bool aligned = false; ///< contains a barrier that cuts: all threads are in the same iteration
  BarrierKind alignedBy = BarrierKind::None;
  Symbol *counter = nullptr, *exitCounter = nullptr;
  std::vector<Expr> exitConditions;
  std::vector<Open> open;
  /// Exit symbols of inner loops, and what they are after this loop has been left.
  std::vector<std::pair<Symbol*, Symbol*>> renamed;
};

/// Shared by all runs of one kernel under one launch case.
struct KernelState {
  KernelState(ExprContext& exprs, const PreparedModule& prepared, const KernelCode& code, const Facts& facts,
              const LaunchCase& launch);

  ExprContext& exprs;
  const PreparedModule& prepared;
  const KernelCode& code;
  const Facts& facts;
  const LaunchCase& launch;
  const llvm::Function& function;
  const llvm::DataLayout& layout;
  llvm::DominatorTree dominators;
  llvm::LoopInfo loopInfo;
  SymbolTable symbols;
  ObjectTable objects;
  KernelModel model;
  Broadcasts broadcasts;
  LaneStores laneStores;
  CriticalSections sections;
  Arrivals arrivals;
  Sightings sightings;
  FenceMap fences;
  AsyncCopies asyncCopies;
  std::shared_ptr<const PhasedBarriers> phased;   ///< once they have been read
  std::unordered_set<const Symbol*> pastBarriers; ///< say no more than that a barrier has let the thread go

  /// What holds of a loop's exit symbols whenever the loop has been left.
  std::unordered_map<const Symbol*, Expr> definitions;
  /// The last iterations of loops that only count, in terms of what the loop leaves alone.
  std::unordered_map<const Symbol*, Expr> lastIterations;
  std::vector<LoopRecord> loops;
  /// Symbols that stand for results of atomics or volatile loads: conditions on them may order threads.
  std::unordered_set<const Symbol*> synchronizing;

  /// The loop (null: none) and run in whose iterations a symbol may have different values.
  std::unordered_map<const Symbol*, std::pair<const llvm::Loop*, RunId>> homes;
  std::unordered_map<const Symbol*, const llvm::Instruction*> origins; ///< whose results they are

  /// Functions of the same kind, objects that such results are written to or decide about, and the blocks
  /// behind a loop that waits for one: what is there may be ordered by it, in ways that are not followed.
  std::unordered_set<const Function*> synchronizingFunctions;
  std::set<unsigned> synchronizingObjects;
  std::map<const llvm::BasicBlock*, const llvm::Instruction*> afterWaiting; ///< with the loop's end
  std::set<const llvm::Instruction*> polled; ///< what such a loop looks at until it may go on
  bool isSynchronizing(Expr e) const;
  /// As isSynchronizing, by something else than a lock.
  bool isSignalled(Expr e) const;

  Cut cut = Cut::Block;   ///< of the runs made now
  bool hasGroups = false; ///< who comes to each named barrier is followed
  std::set<const llvm::BasicBlock*> barrierBlocks;
  std::map<const llvm::Loop*, BarrierKind> barrierLoops; ///< with the widest barrier inside
  void setCut(Cut newCut);

  bool knowsWritten = false; ///< the first run is over: the sets below are complete
  std::set<unsigned> written;
  /// Objects that are used as locks, and only so: nothing but taking and giving back is done to them.
  std::set<unsigned> locks;
  /// Those of them that are also given back: who finds one taken comes again or leaves the work.
  std::set<unsigned> locksGivenBack;
  std::unordered_set<const Symbol*> lockResults;   ///< among the synchronizing ones
  std::map<unsigned, std::vector<Expr>> wideReads; ///< some, of what the kernel does not write; by object
  std::unordered_map<Expr, Ballot> ballots; ///< what ballots of all lanes gave, and which lanes come together
  std::unordered_map<Expr, Expr> drawnWithin; ///< tickets, with what bounds them where they were drawn
  std::unordered_map<Expr, Expr> ranks;       ///< how many voters are below a voter, with the ballots
  std::unordered_set<Expr> laneFacts; ///< of voters, true wherever they come: fewer are below than have voted
  std::unordered_map<Expr, Expr> firstVoters; ///< the first lanes that voted, with the ballots
  bool takesLock(const llvm::Instruction& atomic, Expr pointer);
  /// Loads of what one thread of the block has stored, with that thread; arrivals, with the one that arrives.
  std::map<const llvm::Instruction*, ThreadPlace> handedOn;
  std::map<const llvm::Instruction*, Arrival> arriving;
  std::map<unsigned, std::vector<FlagStore>> flags;          ///< by object: all that is stored there
  std::map<const llvm::Instruction*, OneThread> commonLooks; ///< those by which one thread waits for all
  std::set<const llvm::Instruction*> storedByLanes; ///< loads that were followed to what a lane has stored
  const Surroundings& around(const llvm::Instruction& signal, unsigned reach);
  /// The tickets drawn by arrivals, and that this one is the last.
  struct DrawnTicket {
    Expr ticket, last, isLast;
  };
  std::vector<DrawnTicket> drawn;
  /// What is done to each object, and where.
  std::map<unsigned, std::map<Update, std::set<const llvm::BasicBlock*>>> updates;
  std::map<unsigned, std::map<Update, std::set<const llvm::BasicBlock*>>> updatesSeen; ///< by this run
  /// What threads of a block count together one by one, where no thread does so more than `draws` times.
  struct CountBound {
    unsigned object = 0, draws = 0;
    const llvm::Loop* loop = nullptr; ///< in each round of which is counted, behind `start`
    const llvm::BasicBlock* start = nullptr;
  };
  std::map<const Symbol*, CountBound> boundedCounts;
  std::map<const Function*, CountBound> boundedRoundCounts;
  void boundCounts(const Execution& whole);
  void boundCount(const CountBound& bound, const std::function<bool(Expr)>& isCount);
  /// Where counters start of which the tickets are numbered from there.
  struct FirstTicket {
    unsigned object = 0;
    std::optional<unsigned> draws; ///< of a thread at most; shared memory's alone
    const Function* number = nullptr;
  };
  std::map<const Symbol*, FirstTicket> firstTickets;
  std::map<const Function*, FirstTicket>
      sharedTickets; ///< drawn upwards one by one, from where the counter starts
  void boundTickets();
  void boundSharedTickets();
  /// Counters that are taken to start at 0, or at 0 or above.
  struct AssumedStart {
    const llvm::Instruction* drawn = nullptr;
    Expr offset = nullptr;
    bool isZero = false;
  };
  std::map<unsigned, AssumedStart> assumedStarts; ///< by object
  void checkStarts();
  /// The one place behind which the interval between block barriers begins that `block` is in, if it is one
  /// and runs once, and nothing but `update` is done to the object in it. Where nothing else is ever done to
  /// it the whole kernel is one interval: the entry.
  const llvm::BasicBlock* intervalOf(unsigned object, const Update& update, const llvm::BasicBlock* block);
  /// The same of an interval that comes again in each round of these loops, and that `block` is in once in a
  /// round, behind its start.
  struct RepeatedInterval {
    const llvm::BasicBlock* start = nullptr;
    std::vector<const llvm::Loop*> loops;
  };
  RepeatedInterval repeatedIntervalOf(unsigned object, const Update& update, const llvm::BasicBlock* block);
  bool isUnknownWritten() { return written.count(objects.unknown()) != 0; }
  bool isWritten(unsigned object) {
    if (written.count(object)) return true;
    const MemoryObject& o = objects[object];
    return isUnknownWritten() && (o.space == MemorySpace::Global || o.escapes);
  }
  std::map<const llvm::BasicBlock*, std::set<unsigned>> writtenIn; ///< per block
  std::set<const llvm::Instruction*> unstable;                     ///< loads of what their phase writes
  std::set<const llvm::Instruction*> unstableInGrid; ///< or what is written between grid barriers
  /// Objects that pointers were read from, and those of them that the kernel writes.
  std::set<unsigned> pointerSources, changedPointerSources;
  /// Where pointers are read in each object: in this run, and in those before.
  std::map<unsigned, std::set<Reach>> pointerPlaces, knownPointerPlaces;
  struct PointerFamily {
    Reach reach;
    std::size_t places;
  };
  PointerFamily familyOf(unsigned table, Reach reach) const;
  bool knowsPointersAt(unsigned table, Reach reach) const;
  std::string memberAt(unsigned object, std::int64_t byte);
  std::map<unsigned, std::int64_t> fixedParameters; ///< by an assumption at the kernel's start
  std::map<unsigned, const PassedValue*> passed;    ///< content of structures that are parameters, by object

  std::map<unsigned, ArrayPromise> promises; ///< by object

  std::map<unsigned, const llvm::GlobalVariable*> globals; ///< the variables among the objects
  /// Instructions whose value some address, condition or size depends on.
  std::unordered_set<const llvm::Value*> relevant;
  /// What multiplies a loop counter that does not overflow, or is assumed not to.
  struct Multiplied {
    std::uint8_t flags;
    std::string assumption; ///< empty: the language says so
  };
  std::unordered_map<const llvm::Value*, Multiplied> multiplied;
  /// The number of an instruction in its kernel; copies of one site have different ones.
  std::int64_t numberOf(const llvm::Instruction& instruction);

  std::unordered_map<const llvm::Instruction*, std::int64_t> instructionNumbers;
  std::map<std::pair<const llvm::Instruction*, unsigned>, Surroundings> surroundings; ///< by reach

  Intervals intervals; ///< once they are asked for

  void gap(const llvm::Instruction* where, std::string what, bool races = true, bool barriers = false,
           bool bounds = true);
  void assume(const std::string& what);
  /// The flags that the size of a launch gives products and sums of indices and dimensions.
  std::uint8_t launchFlags(Op op, Expr a, Expr b);
  std::string lineText(const llvm::Instruction& instruction) const; ///< "line 12"

  Expr argumentValue(const llvm::Argument& argument);
  /// The object of a known allocation.
  unsigned allocationObject(std::size_t number, MemoryObject fresh);
  /// Where a parameter leads, as one group of members of the structures there, which is an object of its own:
  /// by no other pointer does the kernel come there.
  Expr memberOf(Expr pointer, unsigned group, const llvm::Argument& parameter);
  Expr linearThread(); ///< index of the thread in its block
  /// `sum` in the words of linearThread(), where it is the same.
  Expr inOneRow(Expr sum);
  /// The one thread of the block for which the condition can hold, where its words say so.
  std::optional<ThreadPlace> onlyThread(Expr condition);
  Expr isThread(const ThreadPlace& place);  ///< width 1
  bool hasThread(const ThreadPlace& place); ///< whether every block has that thread
  /// `e` as that thread of the block has it where it comes to the store.
  Expr asThread(const ThreadPlace& place, const llvm::Instruction& store, Expr e);
  /// That this block is the one that comes last to `arrival`, of those of its row.
  Expr isLastBlock(const llvm::Instruction& arrival);
  /// How many blocks count themselves in there at one place.
  Expr blocksArriving(const llvm::Instruction& arrival);

  /// The iteration counter of a loop in one run.
  Symbol* loopCounter(const llvm::Loop* loop, RunId run);

  /// The condition with the definitions of every exit symbol that it or `roots` mention.
  Expr withDefinitions(Expr condition, std::initializer_list<Expr> roots);
};

unsigned widthOf(const llvm::Type* type, const llvm::DataLayout& layout);
/// Whether `e` is known to be non-negative as a signed number.
bool isNonNegative(Expr e);
/// The part of `e` beyond `prefix` where `e` implies it by construction, or null.
Expr withoutPrefix(ExprContext& exprs, Expr e, Expr prefix);
/// What `e` says where `known` holds: without the parts that are among the parts of that.
Expr whereHolds(ExprContext& exprs, Expr e, Expr known);

} // namespace kcheck::analyzer
