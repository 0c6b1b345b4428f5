// Stream capture: work of a stream becomes nodes of a graph instead of being performed.
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph.h"
#include "instrument/runtime/api/stream.h"

#include <algorithm>
#include <atomic>

namespace kcheck::runtime::api {
namespace {

using cuda::CaptureMode;
using cuda::CaptureStatus;
using cuda::Graph;
using cuda::GraphNode;
using cuda::Stream;

std::atomic<int>& captures() {
  static std::atomic<int> count{0};
  return count;
}

/// What cudaThreadExchangeStreamCaptureMode has set.
CaptureMode& modeOfThread() {
  thread_local CaptureMode mode = CaptureMode::Global;
  return mode;
}

bool forbidsHere(const Stream& stream) {
  const Graph& graph = *stream.capturing;
  if (graph.captureMode == CaptureMode::Relaxed || modeOfThread() == CaptureMode::Relaxed) return false;
  return graph.captureThread == std::this_thread::get_id() ||
         (graph.captureMode == CaptureMode::Global && modeOfThread() == CaptureMode::Global);
}

/// Success, or `error` where a capture forbids the call, which spoils the capture.
template <class Forbids> Error unlessForbidden(Error error, Forbids&& forbids) {
  if (captures() == 0) return Error::Success;
  bool isForbidden = false;
  streamTable().streams.forEach([&](Stream& stream) {
    if (!stream.capturing || !forbids(stream)) return;
    stream.capturing->isSpoilt = isForbidden = true;
  });
  return isForbidden ? error : Error::Success;
}

Error begin(Stream& stream, std::unique_ptr<Graph> own, Graph* given, std::vector<GraphNode*> tail,
            CaptureMode mode) {
  if (&stream == &streamTable().legacy) return Error::StreamCaptureUnsupported;
  if (stream.capturing) return Error::IllegalState;
  if (int(mode) < 0 || int(mode) > int(CaptureMode::Relaxed)) return Error::InvalidValue;
  stream.captureIsOurs = own != nullptr;
  stream.capturing = own ? graphs().add(std::move(own)) : given;
  stream.capturing->captureMode = mode;
  stream.capturing->captureThread = std::this_thread::get_id();
  stream.capturing->isSpoilt = false;
  stream.captureOrigin = true;
  stream.captureId = newId();
  stream.captureTail = std::move(tail);
  ++captures();
  return Error::Success;
}

bool leadsTo(const GraphNode* node, const std::vector<GraphNode*>& from) {
  std::vector<const GraphNode*> open(from.begin(), from.end());
  std::vector<const GraphNode*> seen;
  while (!open.empty()) {
    const GraphNode* next = open.back();
    open.pop_back();
    if (next == node) return true;
    if (std::find(seen.begin(), seen.end(), next) != seen.end()) continue;
    seen.push_back(next);
    open.insert(open.end(), next->after.begin(), next->after.end());
  }
  return false;
}

/// Streams that joined must have been waited for by the origin.
bool allJoined(Stream& origin) {
  bool joined = true;
  streamTable().streams.forEach([&](Stream& other) {
    if (&other == &origin || other.capturing != origin.capturing) return;
    for (const GraphNode* node : other.captureTail) joined = joined && leadsTo(node, origin.captureTail);
  });
  return joined;
}

void leave(Graph* graph) {
  streamTable().streams.forEach([&](Stream& stream) {
    if (stream.capturing != graph) return;
    stream.capturing = nullptr;
    stream.captureOrigin = false;
    stream.captureTail.clear();
  });
  streamTable().events.forEach([&](cuda::Event& event) {
    if (event.capturing == graph) event.capturing = nullptr;
  });
}

Error end(Stream& stream, Graph** result) {
  if (!stream.capturing) return Error::IllegalState;
  if (!stream.captureOrigin) return Error::StreamCaptureUnmatched;
  Graph* graph = stream.capturing;
  bool joined = allJoined(stream), ours = stream.captureIsOurs;
  const bool spoilt = graph->isSpoilt;
  --captures();
  leave(graph);
  if (result) *result = joined && !spoilt ? graph : nullptr;
  if (joined && !spoilt) return Error::Success;
  if (ours) graphs().remove(graph);
  return spoilt ? Error::StreamCaptureInvalidated : Error::StreamCaptureUnjoined;
}

template <class Body> [[gnu::always_inline]] inline Error withStream(cuda::StreamHandle handle, Body&& body) {
  return call([&] {
    Stream* stream = resolve(handle);
    return stream ? body(*stream) : Error::InvalidResourceHandle;
  });
}

CaptureStatus statusOf(const Stream& stream) {
  if (!stream.capturing) return CaptureStatus::None;
  return stream.capturing->isSpoilt ? CaptureStatus::Invalidated : CaptureStatus::Active;
}

} // namespace

Error capture(Stream& stream, Work work) {
  // An event from outside cannot be waited for inside, and the record of one is a mark, not a node.
  if (std::holds_alternative<EventWork>(work))
    return spoilCapture(*stream.capturing, Error::StreamCaptureIsolation);
  if (stream.capturing->isSpoilt) return Error::StreamCaptureInvalidated;
  if (auto* freed = std::get_if<FreeWork>(&work))
    for (const auto& node : stream.capturing->nodes)
      if (auto* made = std::get_if<AllocateWork>(&node->work))
        freed->ofGraph |= made->pointer == freed->pointer;
  GraphNode* node = addNode(*stream.capturing, std::move(work), stream.captureTail);
  stream.captureTail = {node};
  return Error::Success;
}

Error joinCapture(Stream& stream, cuda::Event& event) {
  if (stream.capturing && stream.capturing != event.capturing) return Error::StreamCaptureMerge;
  if (!stream.capturing) {
    if (&stream == &streamTable().legacy) return Error::StreamCaptureImplicit;
    stream.capturing = event.capturing;
    stream.captureOrigin = false;
    stream.captureTail.clear();
  }
  for (GraphNode* node : event.captureNodes)
    if (std::find(stream.captureTail.begin(), stream.captureTail.end(), node) == stream.captureTail.end())
      stream.captureTail.push_back(node);
  return Error::Success;
}

Error recordInCapture(cuda::Event& event, Stream& stream) {
  event.capturing = stream.capturing;
  event.captureNodes = stream.captureTail;
  return Error::Success;
}

Error allowedDuringCaptures() { return unlessForbidden(Error::StreamCaptureUnsupported, forbidsHere); }

Error deviceWaitAllowed() {
  return unlessForbidden(Error::StreamCaptureUnsupported, [](const Stream&) { return true; });
}

Error legacyStreamAllowed() {
  return unlessForbidden(Error::StreamCaptureImplicit,
                         [](const Stream& stream) { return stream.blocking(); });
}

Error spoilCapture(Graph& graph, Error error) {
  graph.isSpoilt = true;
  return error;
}

} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;

extern "C" {

Error cudaStreamBeginCapture(cuda::StreamHandle handle, cuda::CaptureMode mode) {
  return withStream(handle, [&](cuda::Stream& stream) {
    return begin(stream, std::make_unique<cuda::Graph>(), nullptr, {}, mode);
  });
}

Error cudaStreamBeginCaptureToGraph(cuda::StreamHandle handle, cuda::Graph* graph,
                                    cuda::GraphNode* const* dependencies, const cuda::EdgeData* /*data*/,
                                    std::size_t count, cuda::CaptureMode mode) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!isGraph(graph) || (!dependencies && count)) return Error::InvalidValue;
    return begin(stream, nullptr, graph, {dependencies, dependencies + count}, mode);
  });
}

Error cudaStreamEndCapture(cuda::StreamHandle handle, cuda::Graph** graph) {
  return withStream(handle,
                    [&](cuda::Stream& stream) { return graph ? end(stream, graph) : Error::InvalidValue; });
}

Error cudaStreamIsCapturing(cuda::StreamHandle handle, cuda::CaptureStatus* status) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!status) return Error::InvalidValue;
    *status = statusOf(stream);
    return Error::Success;
  });
}

Error cudaStreamGetCaptureInfo(cuda::StreamHandle handle, cuda::CaptureStatus* status, unsigned long long* id,
                               cuda::Graph** graph, cuda::GraphNode* const** dependencies,
                               const cuda::EdgeData** data, std::size_t* count) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!status) return Error::InvalidValue;
    *status = statusOf(stream);
    if (!stream.capturing) return Error::Success;
    if (id) *id = stream.captureId;
    if (graph) *graph = stream.capturing;
    if (dependencies) *dependencies = stream.captureTail.data();
    if (data) *data = nullptr;
    if (count) *count = stream.captureTail.size();
    return Error::Success;
  });
}

Error cudaStreamUpdateCaptureDependencies(cuda::StreamHandle handle, cuda::GraphNode** nodes,
                                          const cuda::EdgeData* /*data*/, std::size_t count, unsigned flags) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!stream.capturing) return Error::IllegalState;
    if (flags > 1 || (!nodes && count)) return Error::InvalidValue;
    if (flags == 1) stream.captureTail.clear(); // replaced, else added
    stream.captureTail.insert(stream.captureTail.end(), nodes, nodes + count);
    return Error::Success;
  });
}

Error cudaThreadExchangeStreamCaptureMode(cuda::CaptureMode* mode) {
  return call([&] {
    if (!mode) return Error::InvalidValue;
    std::swap(modeOfThread(), *mode);
    return Error::Success;
  });
}

} // extern "C"
