// Tables in local memory: small arrays that are filled at fixed places and then read at computed ones.
#pragma once

namespace llvm {
class Function;
}

namespace kcheck::analyzer {

/// Gives what is read from such arrays as a choice between the values that were put there. The reads
/// themselves stay, for their bounds.
void readLocalTables(llvm::Function& kernel);

} // namespace kcheck::analyzer
