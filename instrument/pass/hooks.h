// Whether an access can be seen by other threads: shared by the stages that put hooks in and take them out.
#pragma once

#include <cstdint>

namespace llvm {
class Value;
}

namespace kcheck::instrument {

struct Locality {
  enum Kind {
    Elsewhere, ///< may be memory that other threads see
    Inside,    ///< a variable of the thread, within its extent
    Computed   ///< a variable of the thread at a place not known to be within its extent
  } kind = Elsewhere;
  llvm::Value* base = nullptr; ///< of Inside and Computed: the variable, when it is one only
  std::uint64_t bytes = 0;     ///< its extent
};

Locality localityOf(llvm::Value* address, llvm::Value* length);

} // namespace kcheck::instrument
