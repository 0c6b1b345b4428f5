// Where an instruction comes from: the site that the front end has numbered, and the place in the source.
#pragma once

#include "analyzer/kernel_model.h"

namespace llvm {
class Instruction;
} // namespace llvm

namespace kcheck::analyzer {

/// The number that the front end gave the access, or kNoSite; of a copy, of its written or its read side.
SiteId siteOf(const llvm::Instruction& instruction, bool readSide = false);
/// Of a piece that promotion made of an access: the access. kNoSite for all else.
inline constexpr const char* kPieceMetadata = "kcheck.piece";
SiteId wholeOf(const llvm::Instruction& instruction);
/// Where the instruction stands in the source, as the user sees it: innermost position outside system headers
/// is not known here, so the position in the kernel itself is taken when the access was inlined.
Location locationOf(const llvm::Instruction& instruction);
/// Whether it stands in a function that is called there.
bool isAssertedInCall(const llvm::Instruction& assertion);

} // namespace kcheck::analyzer
