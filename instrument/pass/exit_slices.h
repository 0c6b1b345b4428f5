// What the exits of a loop hang on.
#pragma once

#include <set>
#include <vector>

namespace llvm {
class BasicBlock;
class Instruction;
class Loop;
class PHINode;
class Value;
} // namespace llvm

namespace kcheck::instrument {

/// What the exit condition of a loop is made of.
struct ExitSlice {
  bool readsMemory = false;  ///< of other threads, by a plain access
  bool synchronises = false; ///< by a volatile or atomic access that does not itself change the value
  bool takesTickets = false; ///< by an atomic update, which is progress
  bool counts = false;       ///< a variable that the loop advances by a constant
  bool countsPlaces = false; ///< such a variable, as the place of what it reads alone
  bool givesUp = false;      ///< it counts, or may, how often the loop has gone round
};

class ExitSlices {
public:
  explicit ExitSlices(const llvm::Loop& loop) : loop(loop) {}

  ExitSlice of(llvm::Value* condition);
  /// Looks as well at what leads to an exit: `while (a != b || a & 1)` leaves by its second question alone,
  /// and waits for the first one's answer too.
  void addBranchesTo(llvm::BasicBlock* exit);

  /// A volatile or atomic read that an exit depends on.
  struct Awaited {
    llvm::Instruction* read;
    bool probes; ///< abi::SiteProbes
  };
  /// Of the exits looked at so far.
  const std::vector<Awaited>& awaited() const { return reads; }

private:
  void goOver();
  bool leadsTo(llvm::BasicBlock* from, const llvm::BasicBlock* to) const;
  void add(llvm::Value* value);
  void classify(llvm::Instruction& instruction);
  void await(llvm::Instruction& read, llvm::Value* address);
  bool goesOn(llvm::PHINode& number) const;
  long waysRound(const llvm::PHINode& phi) const;
  void addDeciders(llvm::BasicBlock* block);

  const llvm::Loop& loop;
  ExitSlice slice;
  std::set<llvm::Value*> seen;
  std::vector<llvm::Instruction*> work;
  std::vector<Awaited> reads;
  std::vector<llvm::Value*> places; ///< where the exits' loads read
};

} // namespace kcheck::instrument
