// Memory for the coroutine frames of a block's threads: handed out in order, given back all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kcheck::runtime {

class Frames {
public:
  void* take(std::size_t bytes) {
    bytes = (bytes + 63) & ~std::size_t{63};
    if (bytes > left) nextSlab(bytes);
    std::byte* frame = at;
    at += bytes;
    left -= bytes;
    return frame;
  }
  /// All frames at once; the memory stays for the next block.
  void reset() {
    current = 0;
    at = nullptr;
    left = 0;
  }
  bool holds(const void* pointer) const {
    auto wanted = reinterpret_cast<std::uintptr_t>(pointer);
    for (const Slab& slab : slabs)
      if (wanted - reinterpret_cast<std::uintptr_t>(slab.memory.get()) < slab.bytes) return true;
    return false;
  }

private:
  static constexpr std::size_t kSlab = std::size_t{256} << 10;
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t(64)); }
  };
  struct Slab {
    std::unique_ptr<std::byte[], Free> memory;
    std::size_t bytes;
  };
  void nextSlab(std::size_t bytes) {
    while (current < slabs.size() && slabs[current].bytes < bytes) ++current;
    if (current == slabs.size()) {
      std::size_t size = bytes > kSlab ? bytes : kSlab;
      auto* memory = static_cast<std::byte*>(::operator new[](size, std::align_val_t(64)));
      slabs.push_back({std::unique_ptr<std::byte[], Free>(memory), size});
    }
    at = slabs[current].memory.get();
    left = slabs[current].bytes;
    ++current;
  }
  std::vector<Slab> slabs;
  std::size_t current = 0, left = 0;
  std::byte* at = nullptr;
};

} // namespace kcheck::runtime
