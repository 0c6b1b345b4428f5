// What a capture forbids spoils it: it ends without a graph.
// expect-status: 0
#include "check.h"

__global__ void nothing() {}

cudaStream_t captured, other;
cudaEvent_t past, inside;

/// The capture gave no graph, or gave one.
void ends(bool spoilt) {
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(captured, &status));
  CHECK(status == (spoilt ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive));
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(captured, &graph) == (spoilt ? cudaErrorStreamCaptureInvalidated : cudaSuccess));
  CHECK(!graph == spoilt);
  if (graph) OK(cudaGraphDestroy(graph));
  cudaGetLastError();
  OK(cudaStreamIsCapturing(captured, &status));
  CHECK(status == cudaStreamCaptureStatusNone);
}

/// Of calls that no capture but a relaxed one allows.
void forbidden(cudaStreamCaptureMode mode) {
  const bool isStrict = mode != cudaStreamCaptureModeRelaxed;
  const cudaError_t wanted = isStrict ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
  void* memory = nullptr;
  OK(cudaStreamBeginCapture(captured, mode));
  CHECK(cudaMalloc(&memory, 64) == wanted);
  ends(isStrict);
  OK(cudaFree(memory));
  OK(cudaStreamBeginCapture(captured, mode));
  CHECK(cudaMallocHost(&memory, 64) == wanted);
  ends(isStrict);
  if (!isStrict) OK(cudaFreeHost(memory));
  OK(cudaStreamBeginCapture(captured, mode));
  CHECK(cudaStreamSynchronize(other) == wanted);
  ends(isStrict);
  OK(cudaStreamBeginCapture(captured, mode));
  CHECK(cudaEventQuery(past) == wanted);
  ends(isStrict);
}

void forbiddenAlways(cudaStreamCaptureMode mode) {
  OK(cudaStreamBeginCapture(captured, mode));
  CHECK(cudaStreamSynchronize(captured) == cudaErrorStreamCaptureUnsupported);
  nothing<<<1, 1, 0, captured>>>();
  CHECK(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
  ends(true);
  OK(cudaStreamBeginCapture(captured, mode));
  CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
  ends(true);
  OK(cudaStreamBeginCapture(captured, mode));
  OK(cudaEventRecord(inside, captured));
  CHECK(cudaEventSynchronize(inside) == cudaErrorCapturedEvent);
  ends(true);
  OK(cudaStreamBeginCapture(captured, mode));
  CHECK(cudaStreamWaitEvent(captured, past, 0) == cudaErrorStreamCaptureIsolation);
  ends(true);
}

/// Work in the legacy default stream would wait for a blocking stream, and for no other.
void legacy(cudaStreamCaptureMode mode, bool isBlocking) {
  OK(cudaStreamBeginCapture(captured, mode));
  nothing<<<1, 1>>>();
  CHECK(cudaGetLastError() == (isBlocking ? cudaErrorStreamCaptureImplicit : cudaSuccess));
  ends(isBlocking);
}

int main() {
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  OK(cudaEventCreate(&past));
  OK(cudaEventCreate(&inside));
  OK(cudaEventRecord(past, other));
  OK(cudaDeviceSynchronize());
  for (bool isBlocking : {true, false}) {
    OK(cudaStreamCreateWithFlags(&captured, isBlocking ? cudaStreamDefault : cudaStreamNonBlocking));
    for (auto mode :
         {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
      forbidden(mode);
      forbiddenAlways(mode);
      legacy(mode, isBlocking);
    }
    OK(cudaStreamDestroy(captured));
  }
  float time = 1;
  OK(cudaEventElapsedTime(&time, past, past));
  CHECK(time == 0);
  OK(cudaEventDestroy(past));
  OK(cudaEventDestroy(inside));
  OK(cudaStreamDestroy(other));
  std::printf("PASS\n");
}
