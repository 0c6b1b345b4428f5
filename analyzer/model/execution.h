// Symbolic execution of one thread of a kernel, from its entry or from right behind a barrier. Follows every
// path at once: each block runs once per visit of its loop, under a path condition; loops run once with their
// values as functions of an iteration counter (loops/). A run that stops ends at every barrier that cuts.
//
// execution.cpp: the way through the blocks.
// instructions.cpp, comparisons.cpp, calls.cpp, intrinsics.cpp, library_calls.cpp, atomics.cpp, votes.cpp,
// assembly.cpp, matrices.cpp: what an instruction does.
// values.cpp, accesses.cpp: how operands become expressions, and accesses those of the model.
// loads.cpp, initial_contents.cpp, stored_before.cpp, own_stores.cpp, last_blocks.cpp: what is read.
// tickets.cpp, claims.cpp, counted.cpp, lane_stores.cpp: what atomic operations share out.
// loops/: loops, as one iteration or one by one, and their values in closed form, or nearly.
#pragma once

#include "analyzer/model/kernel_state.h"
#include "ptx/statement.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

namespace kcheck::analyzer {

struct CountedLanes;

using Environment = std::unordered_map<const llvm::Value*, Expr>;
using PhiValues = llvm::MapVector<const llvm::PHINode*, Expr>;

/// An access as the run met it; one per place that its pointer may mean.
struct RunAccess {
  const llvm::Instruction* instruction = nullptr;
  ModelAccess access;
};

AtomicScope scopeOf(llvm::SyncScope::ID scope);
/// Of an instruction of PTX, or of the intrinsic that stands for one.
AtomicScope scopeIn(llvm::StringRef name);

/// atomicAdd of a positive constant, -1, or a number that is not negative; atomicInc and atomicDec, where
/// they count further than a launch is likely to draw; atomicCAS of a constant and what surely differs from
/// it.
Update additionOf(Expr addend, Expr condition);
Update roundOf(Expr bound, bool isDown);
Update claimOf(ExprContext& exprs, Expr compare, Expr desired, Expr condition);

/// An integer of at most 64 bits.
bool isScalarInteger(const llvm::Type* type);
/// Whether an argument is a pointer.
bool takesPointer(const llvm::CallInst& call);

/// Whether host code names the variable.
bool mayBeWrittenByHost(const Facts& facts, const llvm::GlobalVariable& variable);

class Execution {
public:
  /// `before`: a run from the entry, for the values at the start of a run from a barrier.
  Execution(KernelState& state, unsigned run, bool stops, const Execution* before = nullptr);

  void fromEntry();
  void fromBarrier(const llvm::BasicBlock* barrier, Expr condition);

  std::vector<RunAccess> accesses;
  std::vector<SubscriptCheck> subscripts;
  Environment env;
  /// What the thread comes to a shuffle with, each time that it is gone through.
  struct Shuffle {
    const llvm::CallInst* call;
    Expr mask, lane, comes;
  };
  std::vector<Shuffle> shuffles;
  std::map<const llvm::BasicBlock*, Expr> conditions;    ///< under which each block runs, in its loops
  std::map<const llvm::BasicBlock*, Expr> endConditions; ///< under which the end of each block is reached
  std::map<const llvm::BasicBlock*, Expr>
      barrierConditions; ///< of barrier blocks, in a run that does not stop
  /// Of the edges that leave a loop, as seen from outside of it.
  std::map<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, Expr> exitEdges;
  std::map<const llvm::Loop*, Expr> loopEntries;            ///< under which each loop is reached
  std::vector<const llvm::Loop*> waitingLoops;              ///< left by what an atomic or volatile load says
  std::set<const llvm::Instruction*> polled;                ///< those atomics and loads
  std::map<const llvm::BasicBlock*, Expr> branchConditions; ///< that the first successor is taken
  std::map<const llvm::Loop*, std::int64_t> knownTrips;     ///< of loops left by their header alone
  std::map<const llvm::Loop*, Expr> iterations;             ///< of each loop that is under way or was last
  std::vector<std::pair<Expr, Expr>> assumed;               ///< (path condition, assumption)
  std::map<const llvm::Instruction*, Expr> handed;          ///< what stores leave that others may read
  /// What one lane stores for its warp, and where, by the store.
  struct LaneStored {
    Expr pointer = nullptr, value = nullptr, condition = nullptr;
  };
  std::map<const llvm::Instruction*, LaneStored> laneStored;

  Expr value(const llvm::Value* v); ///< values.cpp
  /// The access of an asynchronous copy that may be under way. Nothing where it is not known.
  std::optional<ModelAccess> earlier(const RunAccess& access, const CopyUnderWay& copy,
                                     const llvm::BasicBlock* where) const;
  Expr inRound(const CopyUnderWay& copy) const;
  std::set<const llvm::Loop*> leftByData;       ///< after how many rounds is not known
  std::map<const llvm::Loop*, Expr> lastRounds; ///< of loops that have been left: in which round

private:
  using Edge = std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>;
  struct LoopWork;

  // execution.cpp
  void runScope(const llvm::Loop* loop);
  void runBlock(const llvm::BasicBlock* block, Expr condition);
  void leaveBlock(const llvm::BasicBlock* block, Expr condition);
  Expr enter(const llvm::BasicBlock* block, const llvm::Loop* outsideOf, PhiValues* phis);
  bool allComeFrom(const llvm::BasicBlock* dominator, const llvm::BasicBlock* block,
                   std::vector<const llvm::BasicBlock*> last) const;
  Expr atExit(const llvm::BasicBlock* from, const llvm::BasicBlock* to, Expr v) const;
  void runLayers();
  bool isRelevant(const llvm::Value* v) const { return state.relevant.count(v) != 0; }
  bool stopsAt(const llvm::BasicBlock* block) const { return stops && state.barrierBlocks.count(block); }
  int chainIndex(const llvm::Loop* loop) const;

  // instructions.cpp
  void runInstruction(const llvm::Instruction& instruction, Expr& condition);
  void runLoad(const llvm::LoadInst& read, Expr condition);
  void runStore(const llvm::StoreInst& write, Expr condition);
  bool isCopyPart(const llvm::Instruction& instruction) const;
  Expr bytesOf(llvm::Type* accessed);
  Expr result(const llvm::Instruction& instruction);
  Expr gep(const llvm::GEPOperator& gep);
  Expr arithmetic(const llvm::BinaryOperator& op);
  bool surelyWraps(const llvm::BinaryOperator& op, Expr a, Expr b);
  Expr cast(const llvm::CastInst& cast);
  Expr aggregate(const llvm::ExtractValueInst& extract);

  // values.cpp
  Expr constantValue(const llvm::Constant* constant);
  Expr opaque(const llvm::Instruction& instruction, const std::string& name);
  Expr opaque(const llvm::Instruction& instruction, const std::string& name, const std::string& role,
              std::vector<Expr> operands, const llvm::Instruction* key);
  Expr vectorOf(const llvm::InsertElementInst& last);
  Expr elementOf(const llvm::ExtractElementInst& extract);
  Symbol* local(const llvm::Instruction& instruction, const std::string& role, const std::string& name,
                unsigned width);
  Expr fresh(const llvm::Value* v, const char* role, const std::string& name, const Cause& cause);

  // comparisons.cpp
  Expr comparison(const llvm::ICmpInst& compare);
  Expr realComparison(const llvm::FCmpInst& compare);
  Expr leadsToCode(Expr pointer, unsigned function);
  Expr areOneArray(const Place& p, const Place& q);
  Expr samePointer(Expr a, Expr b);
  bool takeOffsets(Expr& a, Expr& b);

  // accesses.cpp
  void record(const llvm::Instruction& instruction, AccessKind kind, Expr pointer, Expr size, Expr condition,
              Expr stored = nullptr, AtomicScope scope = AtomicScope::None, bool isVolatile = false);
  void noteSubscript(const llvm::CallInst& call, Expr condition);
  ModelAccess accessOf(const llvm::Instruction& instruction, AccessKind kind) const;
  Expr whereDrawn(Expr offset, Expr condition);

  // variables.cpp
  void noteVariables(const llvm::Instruction& instruction);
  void nameLocals(const llvm::Instruction& instruction, ModelAccess& access);

  // flags.cpp
  void noteFlags(const llvm::Instruction& instruction, ModelAccess& access);
  void assumeFromZero(const llvm::Instruction& arrival, const Place& counter);
  struct Look;
  std::optional<Look> lookBefore(const llvm::Instruction& instruction, const Sighting& sighting);
  std::optional<FlagSeen> seenAt(const llvm::Instruction& instruction, const Sighting& sighting);
  std::optional<bool> hasSeenAll(const llvm::Instruction& instruction, const llvm::Instruction& arrival);

  // phased/notes.cpp
  void notePhases(const llvm::Instruction& instruction, ModelAccess& access);
  Expr arrivalsBefore(const llvm::Instruction& here, const PhasedBarrier& barrier) const;
  Expr counted(const Count& count, const llvm::Loop* loop, Expr round) const;
  Expr hasCome(const llvm::BasicBlock* block) const;
  Expr hasEntered(const llvm::Loop* loop) const;
  Expr lastRoundOf(const llvm::Loop* loop) const;
  void noteWaited(const PhasedWait& wait, unsigned barrier, const llvm::Instruction& here,
                  ModelAccess& access);

  // waiting.cpp
  Expr waited(const llvm::Instruction& instruction);
  Expr underLock(const llvm::Instruction& instruction);
  std::vector<LockPlace> locksAt(const llvm::Instruction& instruction);
  bool isOnlyWaitedFor(const llvm::Instruction& polled);

  // loads.cpp
  Expr load(const llvm::Instruction& instruction, Expr pointer, Expr condition, bool isVolatile);
  Expr writtenAsOther(unsigned object);
  Expr loadFrom(const llvm::Instruction& instruction, const Place& place);
  Expr unwrittenContent(const Place& place, unsigned width);
  Expr contentBefore(const llvm::Instruction& instruction, const Place& place, unsigned width,
                     const Cause& written);
  bool staysInBlock(const llvm::Instruction& load, const MemoryObject& object) const;
  Expr stableContent(const llvm::Instruction& instruction, const Place& place, bool sameForGrid,
                     const Cause& cause);
  Expr volatileValue(const llvm::Instruction& instruction, Expr pointer);
  Expr markIfSynchronizing(unsigned object, Expr content);
  std::vector<Expr> barrierCounters(const llvm::BasicBlock* block);

  // initial_contents.cpp
  Expr initialContent(const llvm::Instruction& instruction, const Place& place);
  Expr initialEntry(const llvm::GlobalVariable& variable, llvm::Type* type, std::uint64_t at);
  Expr listedContent(const llvm::GlobalVariable& variable, llvm::Type* type, const Place& place,
                     std::uint64_t apart);
  Expr passedContent(const llvm::Instruction& instruction, const Place& place);
  Expr passedPointer(const llvm::Instruction& instruction, const Place& place, const PassedValue& passed);
  Expr pointerFrom(const llvm::Instruction& instruction, const Place& place);
  Reach reachOf(const llvm::Instruction& instruction, const Place& place);
  bool isAlone(const llvm::Instruction& instruction, const Place& place);

  // tickets.cpp, claims.cpp
  Expr ticket(const llvm::Instruction& instruction, Expr pointer, const Update& update, Expr size,
              Expr condition);
  Expr someSetBit(const llvm::CallInst& call, Expr bits);
  Expr undrawn(Expr e, std::string& counter);
  Expr askedOfDrawn(const llvm::Instruction& instruction, Expr result);
  Expr roomFor(const llvm::Instruction& instruction, const Place& place, const llvm::BasicBlock* interval,
               Expr size, std::vector<Expr> operands, Expr condition);
  void assumeAddsUp(const llvm::Instruction& instruction, Expr drawn, Expr size, Expr condition);
  void assumeTicketsStart(const llvm::Instruction& instruction, const Update& update, bool isFixed,
                          unsigned width);
  Expr claim(const llvm::Instruction& instruction, Expr pointer, const Update& update, Expr operand);
  std::optional<std::vector<Expr>> identity(const llvm::Instruction& instruction, bool withinBlock);

  // lane_stores.cpp
  const LaneStored* laneStoredFor(const LaneStores::Source& source) const;
  Expr storedByLane(const llvm::Instruction& load, Expr pointer, Expr condition);

  // counted.cpp
  Expr counted(const Place& place, const llvm::BasicBlock* here);
  /// The numbers of the rounds of these loops; empty where one is not known.
  std::vector<Expr> roundNumbers(const std::vector<const llvm::Loop*>& loops) const;
  unsigned drawsInRound(unsigned object, const Update& drawn, const llvm::Loop* loop) const;
  std::optional<unsigned> drawsOfThread(unsigned object, const Update& drawn) const;
  Expr countedAt(const llvm::Instruction& load, const Place& place);
  /// Where each thread draws once at most, if it is one of the first so many of the launch: no more are
  /// drawn. Of launches of a program that is not known: others before may have drawn from the counter.
  void boundDraws(const llvm::Instruction& draw, const Place& counter, const Update& update, Expr taken,
                  Expr condition);

  // last_blocks.cpp
  Expr handedOn(const llvm::Instruction& load);
  void drawTicket(const llvm::Instruction& atomic);
  Expr saysIsLast(Expr a, Expr b);
  std::vector<ArrivalPlace> arrivalsAt(const llvm::Instruction& instruction, Expr condition);

  // stored_before.cpp
  std::set<const llvm::BasicBlock*> reachedFrom(std::vector<const llvm::BasicBlock*> from) const;
  std::set<const llvm::BasicBlock*> interval() const;
  bool writesIn(const llvm::BasicBlock* block, unsigned object) const;
  bool mayHaveStored(unsigned object, const llvm::BasicBlock* here);
  bool mayFindFirst(const llvm::Instruction& load, unsigned object);
  bool mayHaveWaited(const llvm::Instruction& load) const;
  bool isAsBefore(const llvm::Instruction& load, unsigned object);

  // own_stores.cpp
  const llvm::BasicBlock* barrierBefore(const llvm::Instruction& load) const;
  const llvm::Loop* barrierLoop(const llvm::BasicBlock* block) const;
  bool leadsTo(const llvm::Instruction& store, const llvm::BasicBlock* barrier, unsigned object) const;
  Expr ownStored(const Place& place, unsigned width, const llvm::BasicBlock* barrier) const;
  void noteOwnStore(const Function* content, unsigned object, const llvm::BasicBlock* barrier,
                    const std::vector<Expr>& counters);

  // calls.cpp
  void runCall(const llvm::CallInst& call, Expr& condition);
  void runBarrier(const llvm::CallInst& call, Expr& condition);
  void runBarrierObject(const llvm::CallInst& call, Expr condition);
  void runUnfollowedCall(const llvm::CallInst& call);
  void takeForTrue(const llvm::CallInst& call, Expr holds, Expr& condition);

  // intrinsics.cpp
  bool runIntrinsic(const llvm::CallInst& call, Expr& condition);
  bool runMemoryIntrinsic(const llvm::CallInst& call, Expr condition);
  void runMemoryCopy(const llvm::CallInst& call, Expr condition);
  void runPerThread(const llvm::CallInst& call, Expr condition);
  void runUnknownIntrinsic(const llvm::CallInst& call, Expr condition);
  Expr intrinsicValue(const llvm::CallInst& call);
  Expr specialRegister(unsigned intrinsic);
  Expr isInSpace(Expr pointer, MemorySpace space);
  Expr asLength(const llvm::Value* bytes);
  Expr whereNotEmpty(Expr condition, Expr bytes);

  // library_calls.cpp
  bool runLibraryCall(const llvm::CallInst& call, llvm::StringRef name, Expr& condition);
  void recordMathPointers(const llvm::CallInst& call, llvm::StringRef name, Expr condition);
  Expr mathResult(const llvm::CallInst& call, llvm::StringRef name, Expr& condition);

  // votes.cpp
  void noteBallot(const llvm::CallInst& call);
  void noteMatch(const llvm::CallInst& call, Expr condition);
  void noteVote(const llvm::CallInst& call);
  void noteReduction(const llvm::CallInst& call);
  void noteActive(const llvm::CallInst& call, Expr condition);
  void takeForBallot(const llvm::CallInst& call, const std::string& name, const Ballot& ballot);
  Expr countedBits(const llvm::CallInst& call, Expr bits);
  Expr countedLanes(const llvm::CallInst& call, Expr& condition);
  Expr countedLanes(const llvm::CallInst& call, Expr counted, Expr& condition, const std::string& role);
  Expr otherVoters(const llvm::CallInst& call, const CountedLanes& lanes, const Ballot& ballot,
                   Expr& condition, const std::string& role);
  Expr firstVoter(const llvm::CallInst& call, Expr condition);
  Expr leaderOf(Expr votes, const Ballot& ballot, const std::string& line);
  Expr saysIsLeader(Expr rank);
  Expr warpResult(const llvm::CallInst& call, const std::function<Expr(unsigned)>& argument, Expr condition);
  Expr afterVoting(Expr e, Expr condition) const;

  // assembly.cpp
  Expr assemblyResult(const llvm::CallInst& call, llvm::StringRef text, bool isOfWarp);
  void runAssembly(const llvm::CallInst& call, Expr& condition);
  bool runCopy(const llvm::CallInst& call, llvm::StringRef text, Expr condition);
  Expr sharedPointer(const llvm::Value* address);
  Expr pointerToShared(const llvm::CastInst& cast);
  void resumeCopies(const llvm::BasicBlock* barrier);

  // matrices.cpp
  Expr lane();
  bool runTile(const llvm::CallInst& call, Expr condition);
  bool runRows(const llvm::CallInst& call, const ptx::Statement& statement, Expr condition);

  // atomics.cpp
  void runUpdate(const llvm::AtomicRMWInst& update, Expr condition);
  void runExchange(const llvm::AtomicCmpXchgInst& exchange, Expr condition);
  bool runAtomicIntrinsic(const llvm::CallInst& call, Expr condition);
  void runAtomic(const llvm::Instruction& instruction, Expr pointer, unsigned bytes, AtomicScope scope,
                 const Update& update, Expr condition, Expr size = nullptr);
  void noteUpdate(const llvm::Instruction& instruction, unsigned object, const Update& update);
  std::optional<AtomicUpdate> noteResult(const llvm::Instruction& instruction, Expr pointer, Expr found,
                                         const Symbol* symbol);
  Expr leftBehind(const llvm::Instruction& instruction, Expr found, Expr& differs);

  // annotations.cpp
  void promiseArray(const llvm::CallInst& call, Expr condition);
  bool isEverywhere(Expr condition) const;
  Expr promisedContent(const Place& place, Function* content, unsigned width);

  // loops/loops.cpp
  void runLoop(const llvm::Loop* loop, Expr entry, const PhiValues& start);
  void runOnce(const llvm::Loop* loop, Expr entry, const PhiValues& start);
  LoopWork workOn(const llvm::Loop* loop, Expr entry, const PhiValues& start);
  bool findForms(LoopWork& work);
  void runInClosedForm(LoopWork& work);
  void runBody(LoopWork& work, bool recordAccesses);
  bool canCycle(const llvm::Loop* loop) const;
  bool backEdgePossible(const llvm::Loop* loop) const;
  void markStored(const llvm::Loop* loop);
  void forgetEdges(const llvm::Loop* loop);
  void readLatches(LoopWork& work);
  void setStayCondition(const llvm::Loop* loop, Expr goesOn);

  // loops/short_loops.cpp
  bool canUnroll(const LoopWork& work) const;
  void runUnrolled(LoopWork& work);

  // loops/loop_exits.cpp
  void leaveLoop(LoopWork& work);
  void renameInner(const LoopWork& work, LoopRecord& record, Substitution& final,
                   std::vector<Symbol*>& exits);
  bool looksAgain(const LoopWork& work, Expr leaving);
  void notePolled(Expr leaving, const llvm::Loop& loop);
  void noteSteps(const LoopWork& work);
  void noteWaiting(LoopWork& work, const std::vector<Edge>& present);
  void defineLastIteration(const LoopWork& work, Expr some);
  void leaveEdges(LoopWork& work, Substitution& final);

  // loops/trip_counts.cpp
  Expr stayCondition(LoopWork& work);
  void keepFromZero(LoopWork& work);
  Expr lastIteration(const LoopWork& work);
  void findTripCount(LoopWork& work);
  void takeForOrder(LoopWork& work, Expr moving, Expr bound, Expr first);
  void trimChains(LoopWork& work, std::int64_t trips);
  void boundByParts(LoopWork& work, Expr stay);
  bool comesRoundPastBarriers(LoopWork& work);

  // loops/recurrences.cpp
  void closeForms(LoopWork& work);
  bool dependsOnLoop(const LoopWork& work, Expr e, bool counterToo,
                     const std::set<const Symbol*>& except = {}) const;

  // loops/plain_sums.cpp
  Expr additive(LoopWork& work, const llvm::PHINode* phi, Expr header, Expr latch);
  bool endsInTime(const LoopWork& work, const llvm::PHINode* phi, Expr start, Expr step);
  Expr additiveForm(LoopWork& work, const llvm::PHINode* phi, Expr start, Expr step, bool noWrap);
  Expr boundedSum(LoopWork& work, const llvm::PHINode* phi, Expr start, Expr step);
  Expr countedOut(Expr e);

  // loops/chains.cpp, guarded_values.cpp, tallies.cpp
  Expr narrowStep(const LoopWork& work, Op widening, Expr header, Expr latch);
  Expr narrowSum(LoopWork& work, const llvm::PHINode* phi, Expr header, Expr latch);
  Expr halvedProduct(LoopWork& work, const llvm::PHINode* phi, Expr header, Expr latch);
  Expr orbit(LoopWork& work, Expr header, Expr start, Expr latch);
  Expr comingAgain(LoopWork& work, const llvm::PHINode* phi, Expr header, Expr latch);
  Expr chained(LoopWork& work, const std::vector<Expr>& values, std::size_t cycleFrom);
  void closeTogether(LoopWork& work);
  void countSteps(LoopWork& work, Expr stay);
  void closeGuarded(LoopWork& work);
  void noteTallies(const LoopWork& work);

  // loops/open_values.cpp
  void bindStates(LoopWork& work);
  std::optional<std::vector<std::vector<Expr>>>
  statesOf(const LoopWork& work, const std::vector<const llvm::PHINode*>& group) const;
  void bindTo(LoopWork& work, const std::vector<const llvm::PHINode*>& group,
              const std::vector<std::vector<Expr>>& states);
  void bindPointers(LoopWork& work);
  void boundUsedUp(LoopWork& work);
  void boundOpen(LoopWork& work);

  // loops/wrapped_sums.cpp
  Expr wrappedSum(LoopWork& work, const llvm::PHINode* phi, Expr header, Expr latch);
  Expr growingSum(LoopWork& work, const llvm::PHINode* phi, Expr header, Expr latch);
  Expr product(LoopWork& work, const llvm::PHINode* phi, Expr header, Expr latch);
  Expr nextProduct(const llvm::BinaryOperator& op, Expr a, Expr b, std::uint8_t flags);
  void stepThrough(LoopWork& work);

  /// A variable of the source and the value that a block leaves it; null where that is not known.
  struct Variable {
    const llvm::BasicBlock* block;
    const void *scope, *inlinedAt;
    std::string name;
    Expr value;
  };
  const Variable* variableAt(const std::vector<Variable>& notes, const llvm::BasicBlock* here) const;

  KernelState& state;
  ExprContext& exprs;
  RunId id;
  bool stops;
  const Execution* before;
  bool recording = true;
  unsigned rounds = 1; ///< how often loops that are run one by one repeat the current block
  const llvm::BasicBlock* start = nullptr;
  Expr startCondition = nullptr;
  std::vector<const llvm::Loop*> chain; ///< loops around the start, innermost first
  std::vector<const llvm::BasicBlock*> order;
  std::map<Edge, Expr> edges;
  std::set<const llvm::Loop*> active;
  std::map<const llvm::Loop*, Substitution> left; ///< of loops in closed form: inside values to final ones
  struct BackEdge {
    Expr condition;
    PhiValues values;
  };
  std::map<const llvm::Loop*, std::vector<BackEdge>> pending;
  std::map<const llvm::BasicBlock*, Expr>
      stayConditions;                              ///< simpler words for a header's branch, where known
  std::map<const llvm::Loop*, Expr> iterationBase; ///< of loops that a layer enters in mid-course
  std::map<const llvm::Loop*, std::vector<Symbol*>> exitSymbols; ///< of loops left in this layer
  std::map<const void*, std::vector<Variable>> variables;
  std::set<unsigned> stored;        ///< objects that the thread may have written since the start
  std::set<unsigned> storedHere;    ///< in this block, so far
  std::set<unsigned> storedAtStart; ///< by copies that are under way there
  std::map<unsigned, std::set<const llvm::BasicBlock*>> behindStores; ///< of an object, where known
};

/// Whether every round of the loop computes the same value.
bool isInvariant(const llvm::Value* v, const llvm::Loop& loop, unsigned depth = 8);

} // namespace kcheck::analyzer
