// A value, or one sentence on why there is none. Bad input travels up to main as such a sentence; only main
// exits.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace kcheck {

/// What went wrong, where, and what to try; lower case, no full stop at the end.
struct Error {
  std::string message;
};

template <typename T> class [[nodiscard]] OrError {
public:
  OrError(T value) : state(std::in_place_index<0>, std::move(value)) {}
  OrError(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T& operator*() { return std::get<0>(state); }
  const T& operator*() const { return std::get<0>(state); }
  T* operator->() { return &std::get<0>(state); }
  const T* operator->() const { return &std::get<0>(state); }
  const Error& error() const { return std::get<1>(state); }

private:
  std::variant<T, Error> state;
};

} // namespace kcheck
