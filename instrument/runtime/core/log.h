// The mapped file that outlives the program: finds it by the environment, reserves and completes records.
#pragma once

#include "instrument/wire.h"

#include <string_view>

namespace kcheck::runtime {

class Log {
public:
  Log();
  /// Zeroed room for a record and `extra` bytes behind it; null when the log is full. Not read before
  /// complete().
  template <class T> T* reserve(std::uint64_t extra = 0) {
    return static_cast<T*>(reserveBytes(sizeof(T) + extra));
  }
  static void complete(wire::Record& record, wire::RecordKind kind);
  wire::TextRef addText(std::string_view string);
  wire::Header& header() { return *head; }

private:
  void* reserveBytes(std::uint64_t bytes);
  std::byte* base = nullptr;
  wire::Header* head = nullptr;
};

Log& log();

} // namespace kcheck::runtime
