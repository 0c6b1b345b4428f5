// Objects behind the opaque handles that programs hold (streams, events, arrays, graphs): owned here, and
// looked up before use, so that a stale or invented handle is an error and not a crash.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

namespace kcheck::runtime::api {

template <class T> class HandleTable {
public:
  T* add(std::unique_ptr<T> object) {
    std::lock_guard lock(mutex_);
    T* handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  bool contains(const void* handle) const {
    std::lock_guard lock(mutex_);
    return objects_.contains(handle);
  }
  /// Null for an unknown handle.
  std::unique_ptr<T> remove(const void* handle) {
    std::lock_guard lock(mutex_);
    auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::unique_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  template <class Visit> void forEach(Visit&& visit) {
    std::lock_guard lock(mutex_);
    for (auto& [handle, object] : objects_) visit(*object);
  }
  void clear() {
    std::lock_guard lock(mutex_);
    objects_.clear();
  }

private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<T>> objects_;
};

} // namespace kcheck::runtime::api
