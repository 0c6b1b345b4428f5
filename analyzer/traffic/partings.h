// Where the lanes of a warp may go their own ways, so that which of their accesses are one request does not
// follow from the model.
#pragma once

namespace llvm {
class Function;
}

namespace kcheck::analyzer {

/// Whether lanes may wait for some of their warp alone, or leave a loop after a number of rounds that memory
/// decides: an access that is the same in every round stands in the model once.
bool lanesMayPart(const llvm::Function& kernel);

} // namespace kcheck::analyzer
