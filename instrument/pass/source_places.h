// Places of host code by the debug information of the program.
#pragma once

#include "report/program.h"

#include <llvm/DebugInfo/Symbolize/Symbolize.h>

namespace kcheck::instrument {

class SourcePlaces {
public:
  explicit SourcePlaces(const Facts& facts) : facts(facts) {}
  /// Of a byte offset in an executable or library; unknown where there is none.
  Location of(const std::string& program, std::uint64_t offset);

private:
  const Facts& facts;
  llvm::symbolize::LLVMSymbolizer symboliser;
};

} // namespace kcheck::instrument
