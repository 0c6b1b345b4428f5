// Local variables whose addresses device code stores where other threads may find them. They get memory of
// their own here, so that the address tells whose they are: on a GPU it leads each thread to its own local
// memory.
#pragma once

#include "instrument/runtime/core/frames.h"
#include "instrument/runtime/core/shadow.h"

#include "instrument/wire.h"

#include <iterator>
#include <map>

namespace kcheck::runtime {

struct ThreadState;

struct SharedLocal {
  std::uint32_t thread, bytes; ///< in the block
  const char* name;
};

/// Of the threads of one block.
class SharedLocals {
public:
  void* add(std::uint32_t thread, std::uint64_t bytes, const char* name) {
    void* place = memory.take(bytes);
    locals[reinterpret_cast<Address>(place)] = {thread, static_cast<std::uint32_t>(bytes), name};
    return place;
  }
  /// The one that the address is in; null: none of a thread that lives.
  const SharedLocal* at(Address address) const {
    auto next = locals.upper_bound(address);
    if (next == locals.begin()) return nullptr;
    const auto& [base, local] = *std::prev(next);
    return address - base < local.bytes ? &local : nullptr;
  }
  /// Whether it is, or was before the block began, of some thread.
  bool holds(Address address) const { return memory.holds(reinterpret_cast<void*>(address)); }
  void reset() {
    if (locals.empty()) return;
    locals.clear();
    memory.reset();
  }

private:
  Frames memory;
  std::map<Address, SharedLocal> locals; ///< by address
};

/// Tells an access of another thread's local variable. False: the address is in none.
bool reportOthersLocal(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site,
                       wire::Doing doing);

} // namespace kcheck::runtime
