// What a library's Create functions have made and its Destroy functions have not yet taken back. Programs
// hand in any pointer: only those in the table are used.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

namespace kcheck::runtime::library {

template <class Object> class Handles {
public:
  void* add(std::unique_ptr<Object> object) {
    std::lock_guard lock(guard);
    void* handle = object.get();
    all[handle] = std::move(object);
    return handle;
  }
  Object* find(void* handle) const {
    std::lock_guard lock(guard);
    auto found = all.find(handle);
    return found == all.end() ? nullptr : found->second.get();
  }
  bool remove(void* handle) {
    std::lock_guard lock(guard);
    return all.erase(handle) != 0;
  }

private:
  mutable std::mutex guard;
  std::unordered_map<void*, std::unique_ptr<Object>> all;
};

} // namespace kcheck::runtime::library
