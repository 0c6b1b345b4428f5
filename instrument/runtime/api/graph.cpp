// Capture and replay of graphs.
#include "instrument/runtime/api/graph.h"

namespace kcheck::runtime::api {

cuda::Error capture(cuda::Stream&, Work) { return cuda::Error::StreamCaptureUnsupported; }
cuda::Error joinCapture(cuda::Stream&, cuda::Event&) { return cuda::Error::StreamCaptureUnsupported; }
cuda::Error recordInCapture(cuda::Event&, cuda::Stream&) { return cuda::Error::StreamCaptureUnsupported; }
bool legacyStreamIsForbidden() { return false; }
void performGraph(const cuda::Graph&, std::uint64_t) {}

} // namespace kcheck::runtime::api
