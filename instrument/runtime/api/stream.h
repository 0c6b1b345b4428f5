// Streams and events as objects, and the happens-before edges that CUDA promises between them.
#pragma once

#include "instrument/runtime/api/cuda_abi.h"
#include "instrument/runtime/api/handles.h"

#include <atomic>
#include <chrono>
#include <vector>

namespace kcheck::cuda {

struct Stream {
  std::uint64_t id = 0;
  unsigned flags = StreamDefault;
  int priority = 0;
  /// Operations so far, and how many of the legacy stream's operations this one is already ordered after (and
  /// the reverse): the legacy default stream and blocking streams wait for each other.
  std::uint64_t operations = 0, legacySeen = 0, seenByLegacy = 0;
  std::uint64_t askedAt = 0;  ///< operations when the host last asked whether they are done
  std::uint64_t marker = 0;   ///< number of the event that carries such an order
  Graph* capturing = nullptr; ///< graph under construction while capturing
  bool captureOrigin = false; ///< the stream in which capture began
  bool captureIsOurs = true;  ///< false: the graph belongs to the program (begin capture to graph)
  unsigned long long captureId = 0;
  std::vector<GraphNode*> captureTail; ///< nodes that the next captured node depends on

  bool blocking() const { return !(flags & StreamNonBlocking); }
};

struct Event {
  std::uint64_t id = 0;
  unsigned flags = EventDefault;
  bool recorded = false;
  bool asked = false; ///< whether it is done, since it was recorded
  std::chrono::steady_clock::time_point when;
  Graph* capturing = nullptr; ///< recorded while its stream was captured
  std::vector<GraphNode*> captureNodes;
};

} // namespace kcheck::cuda

namespace kcheck::runtime::api {

/// Every stream and event of the program.
struct StreamTable {
  HandleTable<cuda::Stream> streams;
  HandleTable<cuda::Event> events;
  std::atomic<std::uint64_t> nextId{1}; ///< shared by streams and events, so that no number means two things
  cuda::Stream legacy;                  ///< number 0
  std::mutex order;                     ///< guards the counters of all streams
  bool zeroIsPerThread = false;         ///< see per_thread_api.cpp
  std::recursive_mutex working;         ///< one operation at a time, whichever host thread asks for it
};
StreamTable& streamTable();

/// The stream that a handle names (0, 1 and 2 included), or null.
cuda::Stream* resolve(cuda::StreamHandle handle);
cuda::Event* resolve(cuda::Event* handle);

std::uint64_t newId();
/// Lets a stream wait for what the legacy stream's rules make it wait for; before each operation.
void orderWithLegacy(cuda::Stream& stream);
/// The host has waited for the stream (and for all that it waited for).
void hostWaitsFor(cuda::Stream& stream);
void record(cuda::Event& event, cuda::Stream& stream);

} // namespace kcheck::runtime::api
