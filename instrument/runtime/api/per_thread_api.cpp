// Names with _ptsz and _ptds: what programs call that were compiled with the per-thread default stream
// (CUDA_API_PER_THREAD_DEFAULT_STREAM). This file is linked only into such programs, so its being there is
// the message: stream 0 then means the calling thread's own stream. Each name jumps to the plain function,
// which keeps the caller's return address for reports.
#include "instrument/runtime/api/stream.h"

namespace {

const bool kPerThread = [] {
  kcheck::runtime::api::streamTable().zeroIsPerThread = true;
  return true;
}();

} // namespace

#if defined(__x86_64__)
#define KC_JUMP "jmp "
#define KC_PLT "@PLT"
#else
#define KC_JUMP "b "
#define KC_PLT ""
#endif
#define KC_ALIAS(name, suffix)                                                                               \
  asm(".text\n.globl " #name #suffix "\n.type " #name #suffix ", @function\n" #name #suffix                  \
      ": " KC_JUMP #name KC_PLT "\n");

KC_ALIAS(cudaEventRecordWithFlags, _ptsz)
KC_ALIAS(cudaEventRecord, _ptsz)
KC_ALIAS(cudaFreeAsync, _ptsz)
KC_ALIAS(cudaGetDriverEntryPointByVersion, _ptsz)
KC_ALIAS(cudaGetDriverEntryPoint, _ptsz)
KC_ALIAS(cudaGraphInstantiateWithParams, _ptsz)
KC_ALIAS(cudaGraphLaunch, _ptsz)
KC_ALIAS(cudaGraphUpload, _ptsz)
KC_ALIAS(cudaLaunchCooperativeKernel, _ptsz)
KC_ALIAS(cudaLaunchHostFunc, _ptsz)
KC_ALIAS(cudaLaunchKernelExC, _ptsz)
KC_ALIAS(cudaLaunchKernel, _ptsz)
KC_ALIAS(cudaMallocAsync, _ptsz)
KC_ALIAS(cudaMallocFromPoolAsync, _ptsz)
KC_ALIAS(cudaMemDiscardAndPrefetchBatchAsync, _ptsz)
KC_ALIAS(cudaMemDiscardBatchAsync, _ptsz)
KC_ALIAS(cudaMemPrefetchAsync, _ptsz)
KC_ALIAS(cudaMemPrefetchBatchAsync, _ptsz)
KC_ALIAS(cudaMemcpy2DArrayToArray, _ptds)
KC_ALIAS(cudaMemcpy2DAsync, _ptsz)
KC_ALIAS(cudaMemcpy2DFromArrayAsync, _ptsz)
KC_ALIAS(cudaMemcpy2DFromArray, _ptds)
KC_ALIAS(cudaMemcpy2DToArrayAsync, _ptsz)
KC_ALIAS(cudaMemcpy2DToArray, _ptds)
KC_ALIAS(cudaMemcpy2D, _ptds)
KC_ALIAS(cudaMemcpy3DAsync, _ptsz)
KC_ALIAS(cudaMemcpy3DBatchAsync, _ptsz)
KC_ALIAS(cudaMemcpy3DPeerAsync, _ptsz)
KC_ALIAS(cudaMemcpy3DPeer, _ptds)
KC_ALIAS(cudaMemcpy3D, _ptds)
KC_ALIAS(cudaMemcpyAsync, _ptsz)
KC_ALIAS(cudaMemcpyBatchAsync, _ptsz)
KC_ALIAS(cudaMemcpyFromArrayAsync, _ptsz)
KC_ALIAS(cudaMemcpyFromArray, _ptds)
KC_ALIAS(cudaMemcpyFromSymbolAsync, _ptsz)
KC_ALIAS(cudaMemcpyFromSymbol, _ptds)
KC_ALIAS(cudaMemcpyToArrayAsync, _ptsz)
KC_ALIAS(cudaMemcpyToArray, _ptds)
KC_ALIAS(cudaMemcpyToSymbolAsync, _ptsz)
KC_ALIAS(cudaMemcpyToSymbol, _ptds)
KC_ALIAS(cudaMemcpy, _ptds)
KC_ALIAS(cudaMemset2DAsync, _ptsz)
KC_ALIAS(cudaMemset2D, _ptds)
KC_ALIAS(cudaMemset3DAsync, _ptsz)
KC_ALIAS(cudaMemset3D, _ptds)
KC_ALIAS(cudaMemsetAsync, _ptsz)
KC_ALIAS(cudaMemset, _ptds)
KC_ALIAS(cudaSignalExternalSemaphoresAsync, _ptsz)
KC_ALIAS(cudaStreamAddCallback, _ptsz)
KC_ALIAS(cudaStreamAttachMemAsync, _ptsz)
KC_ALIAS(cudaStreamBeginCaptureToGraph, _ptsz)
KC_ALIAS(cudaStreamBeginCapture, _ptsz)
KC_ALIAS(cudaStreamCopyAttributes, _ptsz)
KC_ALIAS(cudaStreamEndCapture, _ptsz)
KC_ALIAS(cudaStreamGetAttribute, _ptsz)
KC_ALIAS(cudaStreamGetCaptureInfo, _ptsz)
KC_ALIAS(cudaStreamGetDevice, _ptsz)
KC_ALIAS(cudaStreamGetFlags, _ptsz)
KC_ALIAS(cudaStreamGetId, _ptsz)
KC_ALIAS(cudaStreamGetPriority, _ptsz)
KC_ALIAS(cudaStreamIsCapturing, _ptsz)
KC_ALIAS(cudaStreamQuery, _ptsz)
KC_ALIAS(cudaStreamSetAttribute, _ptsz)
KC_ALIAS(cudaStreamSynchronize, _ptsz)
KC_ALIAS(cudaStreamUpdateCaptureDependencies, _ptsz)
KC_ALIAS(cudaStreamWaitEvent, _ptsz)
KC_ALIAS(cudaWaitExternalSemaphoresAsync, _ptsz)
