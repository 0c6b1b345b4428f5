// Local objects whose members are used one by one.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace kcheck::analyzer {

/// Makes one variable for each member of such objects, and of arrays of them one array for each: a pointer
/// beside an array that is read at computed places is then as plain as one alone. Returns whether there were
/// any. What a subscript names stays in its own member, as the language has it.
bool splitMembers(llvm::Function& kernel);

} // namespace kcheck::analyzer
