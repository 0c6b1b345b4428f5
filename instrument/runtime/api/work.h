// Work that a program puts into a stream, as data: performed at once, or later where something before it in
// the stream waits (later.h), or kept as a node while the stream is being captured into a graph.
#pragma once

#include "instrument/abi.h"
#include "instrument/runtime/api/cuda_abi.h"

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace kcheck::runtime::api {

/// The values of a kernel's arguments, copied because a captured launch outlives the caller's variables.
struct KernelArguments {
  std::vector<std::byte> storage;
  std::vector<void*> pointers;
};

struct KernelWork {
  const void* function = nullptr; ///< host stub
  const abi::KernelEntry* kernel = nullptr;
  cuda::Dim3 grid, block;
  std::size_t dynamicShared = 0;
  bool cooperative = false;
  bool mayWait = true;                         ///< LaunchConfig::mayWait
  void** arguments = nullptr;                  ///< valid during the call
  std::shared_ptr<const KernelArguments> kept; ///< set by keepArguments(); then `arguments` points into it
  void* caller = nullptr;
};

/// One side of a copy or fill: rows of `width` bytes (given by the work), `pitch` bytes apart, in slices.
struct Side {
  std::byte* base = nullptr;
  std::size_t pitch = 0, slicePitch = 0;
};

struct CopyWork {
  Side to, from;
  std::size_t width = 0, height = 1, depth = 1; ///< bytes, rows, slices
  cuda::CopyKind kind = cuda::CopyKind::Default;
  const char* function = "cudaMemcpy"; ///< for messages
  bool hostWaits = true;               ///< the call returns only when the copy is done
  void* caller = nullptr;
};

struct FillWork {
  Side to;
  std::size_t width = 0, height = 1, depth = 1;
  std::uint32_t value = 0;
  unsigned elementBytes = 1;
  const char* function = "cudaMemset";
  void* caller = nullptr;
};

struct HostWork {
  cuda::HostFunction function = nullptr;
  void* userData = nullptr;
};

struct EventWork {
  cuda::Event* event = nullptr;
  bool wait = false; ///< else record
};

struct AllocateWork {
  void* pointer = nullptr; ///< the address is fixed when the node is made
  std::size_t bytes = 0;
  std::shared_ptr<void>
      owner; ///< frees the memory with the last graph that has the node, if it is still there
};
struct FreeWork {
  void* pointer = nullptr;
  bool ofGraph = false; ///< memory of an allocation node, which lives as long as its graph
  void* caller = nullptr;
};
struct ChildWork {
  std::shared_ptr<cuda::Graph> graph; ///< a copy of its own
};
struct EmptyWork {};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, EventWork, AllocateWork,
                          FreeWork, ChildWork>;

/// Checks that need no stream: sides, directions, ranges. Reports what is wrong and answers CUDA's error
/// code.
cuda::Error check(const CopyWork& work);
cuda::Error check(const FillWork& work);

/// Runs the work now, as part of the stream with this number.
void perform(const Work& work, std::uint64_t stream);
/// What launches that have ended mean for later calls.
void raiseErrorsOfLaunches();

/// Puts work into a stream: performs it, puts it off (later.h), or adds it to the graph that captures the
/// stream.
cuda::Error submit(cuda::StreamHandle stream, Work work);

KernelArguments copyArguments(const abi::KernelEntry& kernel, void** arguments);
/// The work outlives the call that asks for it.
void keepArguments(Work& work);

} // namespace kcheck::runtime::api
