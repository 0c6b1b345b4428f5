// Short loops that fill or read tables in local memory at the places that they count to.
#pragma once

namespace llvm {
class Function;
}

namespace kcheck::analyzer {

/// Writes them out round by round, so that the places are fixed ones (local_tables.h).
void writeOutTableLoops(llvm::Function& kernel);

} // namespace kcheck::analyzer
