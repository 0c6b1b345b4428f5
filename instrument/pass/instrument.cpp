#include "instrument/instrument.h"

namespace kcheck::instrument {
OrError<Observation> checkRun(const llvm::Module&, const std::vector<std::string>&, const Facts&, const Options&) {
  return Error{"the run is not there yet"};
}
} // namespace kcheck::instrument
