// A call of one of NVIDIA's libraries: which memory of the device it reads and writes, checked as other
// accesses of the host side are, and its work in a stream. The rooms of the libraries (blas/, rand/, fft/) do
// the arithmetic.
#pragma once

#include "instrument/runtime/api/cuda_abi.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace kcheck::runtime::library {

enum class Use { Read, Write, Update };

/// BadMemory has been reported; the others are the program's to ask for.
enum class Outcome { Done, BadMemory, BadStream, DeviceLost };

class Call {
public:
  /// `function` is the name in messages, `caller` the return address in host code.
  Call(const char* function, void* caller) : function(function), caller(caller) {}

  struct Step {
    std::size_t bytes, count;
  };
  /// An array: runs of `bytes` bytes, as many as the steps say, from `base` on.
  void array(const void* base, std::size_t bytes, std::vector<Step> steps, Use use);

  /// Performs the work, or keeps it as a node of the graph that captures the stream. `hostWaits`: the call
  /// returns only when the stream is done.
  Outcome run(cuda::StreamHandle stream, std::function<void()> work, bool hostWaits = false) const;

  /// Whether the library can read the range now, to learn what to do.
  static bool mayRead(const void* base, std::size_t bytes);

private:
  struct Array {
    std::byte* base;
    std::size_t bytes;
    std::vector<Step> steps;
    Use use;
    std::size_t span() const;
    template <class Visit> void forRuns(Visit visit) const;
  };
  bool isInside(const Array& array) const;
  void before(std::uint64_t stream) const;
  void after(std::uint64_t stream) const;

  const char* function;
  void* caller;
  std::vector<Array> arrays;
};

} // namespace kcheck::runtime::library
