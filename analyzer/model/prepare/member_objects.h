// Structures in shared and global memory: which members are told apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace llvm {
class GlobalVariable;
class Module;
} // namespace llvm

namespace kcheck::analyzer {

struct PreparedModule;

/// Where all uses of such a structure, or of an array of them, keep to members: each group of members that no
/// access takes together gets a name of its own, so that a lock beside what it guards, or a counter beside a
/// queue, is as plain as one alone. Of variables that is another variable of the same type and name; of a
/// parameter what a call of `kMember` gives. What a subscript names may not stay in its member: where that
/// shows nowhere, a call of `kWithin` stands before what is done with it (separable.h).
void separateMembers(PreparedModule& prepared);

/// Calls ptr(ptr object, i32 group): the same address, by which one group of members alone is reached.
inline constexpr const char* kMember = "kcheck.member";

/// Calls void(ptr element, ptr array, i64 bytes of the array, i64 bytes taken).
inline constexpr const char* kWithin = "kcheck.within";

bool isMember(const llvm::GlobalVariable& variable);

/// Where in the program's variable a part of it lies: its start and its bytes. Nothing of others, and of
/// arrays.
std::optional<std::pair<std::int64_t, std::int64_t>> partOf(const llvm::GlobalVariable& variable);

/// The name of the program's variable that this one is, or is a part of.
std::string wholeName(const llvm::GlobalVariable& variable);

} // namespace kcheck::analyzer
