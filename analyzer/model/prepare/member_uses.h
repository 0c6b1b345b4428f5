// Which members of an object its uses name.
#pragma once

#include "llvm/IR/DerivedTypes.h"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace llvm {
class DataLayout;
class GetElementPtrInst;
class Instruction;
class MemIntrinsic;
class StoreInst;
class StructLayout;
class Use;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

/// Where an address lies in an object, which is an array of rows, or one row.
struct MemberPlace {
  llvm::Value* row = nullptr; ///< null: the one that `offset` says
  std::int64_t offset = 0;
};

/// All uses of one object, as long as each keeps to the members that it names.
struct MemberUses {
  /// A load, a store or an atomic operation in one member.
  struct Access {
    llvm::Instruction* user = nullptr;
    unsigned operand = 0; ///< the address
    MemberPlace place;
    unsigned member = 0;
  };
  /// An array in a member, of whose elements no more is taken at once than stays there. From `firstIndex` on,
  /// the operands of the instruction are its subscripts.
  struct Subscript {
    llvm::GetElementPtrInst* user = nullptr;
    unsigned firstIndex = 0;
    llvm::Type* array = nullptr;
    MemberPlace place;
    unsigned member = 0;
  };
  /// What is done with an element of which it shows nowhere which one it is.
  struct Open {
    llvm::Instruction* user = nullptr;
    unsigned operand = 0; ///< the address
    std::int64_t bytes = 0;
    std::size_t subscript = 0; ///< by which it is reached
  };
  struct Copy {
    llvm::MemIntrinsic* user = nullptr;
    unsigned operand = 0; ///< 0: written, 1: read
    MemberPlace place;
    std::int64_t bytes = 0;
  };
  /// A load or store of several members as one number: that is how structures are copied.
  struct Wide {
    llvm::Instruction* user = nullptr;
    unsigned operand = 0; ///< the address
    MemberPlace place;
    std::int64_t bytes = 0;
  };
  /// Bytes of one member in one row, `before` bytes from where the whole begins.
  struct Piece {
    unsigned member = 0;
    MemberPlace place;
    std::int64_t bytes = 0, before = 0;
  };

  /// A local or a variable of the program, or a parameter that leads to any number of rows.
  explicit MemberUses(llvm::Value& whole);
  /// False where some use is none of these.
  bool find();

  unsigned count() const { return record->getNumElements(); }
  std::int64_t startOf(unsigned member) const;
  std::int64_t endOf(unsigned member) const;
  /// Nothing where there is no such place.
  std::optional<std::vector<Piece>> piecesOf(MemberPlace place, std::int64_t bytes) const;

  llvm::Value& whole;
  const llvm::DataLayout& data;
  llvm::StructType* record = nullptr;
  std::int64_t rows = 1, rowBytes = 0; ///< `rows`: 0 where that is not known
  std::vector<Access> accesses;
  std::vector<Subscript> subscripts;
  std::vector<Open> opens;
  std::vector<Copy> copies;
  std::vector<Wide> wides;
  std::vector<llvm::StoreInst*> stores;     ///< of the whole object as one value
  std::vector<llvm::Instruction*> pointers; ///< addresses on the way, each behind what it is made from
  std::set<llvm::Instruction*> lifetimes;

private:
  bool isLocal() const;
  /// An address in an array that lies in a member.
  struct Element {
    std::optional<std::int64_t> offset; ///< in the object, where that is known
    std::int64_t bytes = 0;             ///< that the language has there
    std::int64_t array = 0, start = 0;  ///< how many bytes the array has, and where it begins
  };
  bool staysInArray(llvm::Value& address, const Element& element);
  bool isWithin(const Element& element, std::int64_t bytes) const;
  bool takeSubscript(const Subscript& subscript);
  std::optional<std::int64_t> bytesTaken(const llvm::Instruction& user, unsigned operand) const;
  bool follow(llvm::Value& address, const MemberPlace& place);
  bool followIndices(llvm::GetElementPtrInst& gep, MemberPlace place);
  bool takeAccess(llvm::Instruction& user, const llvm::Use& use, const MemberPlace& place);
  bool takeCopy(llvm::MemIntrinsic& user, unsigned operand, const MemberPlace& place);
  bool isRow(const MemberPlace& place) const;
  std::optional<unsigned> memberAt(const MemberPlace& place, std::int64_t bytes) const;

  const llvm::StructLayout* layout = nullptr;
  std::set<std::pair<const llvm::Value*, std::int64_t>>
      met; ///< what has been followed of an array, by its start
};

} // namespace kcheck::analyzer
