#include "instrument/pass/registers.h"

#include "instrument/pass/abi_calls.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <cstddef>
#include <optional>

namespace kcheck::instrument {

namespace {

using abi::BlockContext;
using abi::ThreadContext;

constexpr llvm::StringLiteral kIntrinsicPrefix = "llvm.nvvm.read.ptx.sreg.";
constexpr llvm::StringLiteral kMarkerPrefix = "kcheck.register.";

/// Multiprocessors that the simulated device claims in %nsmid.
constexpr std::uint32_t kMultiprocessors = 8;
constexpr std::uint32_t kSharedUnit = 128, kSystemSharedBytes = 1024; ///< of compute capability 8.0
constexpr std::uint32_t kMostThreads = 1024;                          ///< of a block

std::optional<unsigned> axisOf(llvm::StringRef name, llvm::StringRef base) {
  if (!name.consume_front(base) || name.size() != 2 || name[0] != '.') return std::nullopt;
  auto axis = llvm::StringRef("xyz").find(name[1]);
  return axis == llvm::StringRef::npos ? std::nullopt : std::optional<unsigned>(axis);
}

struct Reader {
  llvm::IRBuilderBase& b;
  llvm::Value* thread;

  llvm::Value* ofThread(std::size_t offset) { return loadField(b, b.getInt32Ty(), thread, offset); }
  /// What is known of a register helps to tell that sums with it do not wrap.
  llvm::Value* bounded(llvm::Value* load, std::uint32_t most) {
    llvm::MDNode* range =
        llvm::MDBuilder(b.getContext()).createRange(llvm::APInt(32, 0), llvm::APInt(32, most + 1));
    llvm::cast<llvm::LoadInst>(load)->setMetadata(llvm::LLVMContext::MD_range, range);
    return load;
  }
  llvm::Value* block() { return loadField(b, b.getPtrTy(), thread, offsetof(ThreadContext, block)); }
  llvm::Value* ofBlock(std::size_t offset) { return loadField(b, b.getInt32Ty(), block(), offset); }
  llvm::Value* axis(std::size_t array, unsigned index) { return ofBlock(array + 4 * index); }
  llvm::Value* volume(std::size_t array) {
    return b.CreateMul(b.CreateMul(axis(array, 0), axis(array, 1)), axis(array, 2));
  }
  llvm::Value* linearBlock() {
    auto* row = b.CreateAdd(
        axis(offsetof(BlockContext, blockIdx), 1),
        b.CreateMul(axis(offsetof(BlockContext, gridDim), 1), axis(offsetof(BlockContext, blockIdx), 2)));
    return b.CreateAdd(axis(offsetof(BlockContext, blockIdx), 0),
                       b.CreateMul(axis(offsetof(BlockContext, gridDim), 0), row));
  }
  llvm::Value* warps() {
    return b.CreateLShr(b.CreateAdd(volume(offsetof(BlockContext, blockDim)), b.getInt32(31)), 5);
  }
  /// Of the block, in the units in which a GPU hands it out.
  llvm::Value* sharedBytes() {
    auto* bytes = b.CreateAdd(ofBlock(offsetof(BlockContext, staticShared)),
                              ofBlock(offsetof(BlockContext, dynamicShared)));
    return b.CreateAnd(b.CreateAdd(bytes, b.getInt32(kSharedUnit - 1)), b.getInt32(~(kSharedUnit - 1)));
  }
  llvm::Value* laneMask(llvm::StringRef which) {
    auto* bit = b.CreateShl(b.getInt32(1), ofThread(offsetof(ThreadContext, lane)));
    auto* below = b.CreateSub(bit, b.getInt32(1));
    if (which == "eq") return bit;
    if (which == "lt") return below;
    if (which == "le") return b.CreateOr(below, bit);
    if (which == "ge") return b.CreateNot(below);
    return which == "gt" ? b.CreateNot(b.CreateOr(below, bit)) : nullptr;
  }
};

llvm::Value* readSingle(Reader& r, llvm::StringRef name) {
  llvm::IRBuilderBase& b = r.b;
  if (name == "laneid") return r.bounded(r.ofThread(offsetof(ThreadContext, lane)), 31);
  if (name == "warpid") return r.bounded(r.ofThread(offsetof(ThreadContext, warp)), kMostThreads / 32 - 1);
  if (name == "nwarpid") return r.warps();
  if (name == "warpsize") return b.getInt32(32);
  if (name == "smid") return b.CreateURem(r.linearBlock(), b.getInt32(kMultiprocessors));
  if (name == "nsmid") return b.getInt32(kMultiprocessors);
  if (name == "gridid") return b.getInt32(1);
  if (name == "total_smem_size") return r.sharedBytes();
  if (name == "aggr_smem_size") return b.CreateAdd(r.sharedBytes(), b.getInt32(kSystemSharedBytes));
  if (name == "dynamic_smem_size") return r.ofBlock(offsetof(BlockContext, dynamicShared));
  // The address of the driver's workspace for grid barriers. Cooperative groups only test it for null
  // (grid.is_valid()): the barrier itself is replaced (lower_calls.cpp).
  if (name == "envreg1") return b.getInt32(0);
  if (name == "envreg2") return r.ofBlock(offsetof(BlockContext, gridWorkspace));
  if (name == "is_explicit_cluster" || name == "cluster_ctarank") return b.getInt32(0);
  if (name == "cluster_nctarank") return b.getInt32(1);
  if (name.consume_front("lanemask.") || name.consume_front("lanemask_")) return r.laneMask(name);
  return nullptr;
}

} // namespace

llvm::Value* readRegister(llvm::IRBuilderBase& builder, llvm::StringRef name, llvm::Value* thread) {
  Reader r{builder, thread};
  if (auto axis = axisOf(name, "tid"))
    return r.bounded(r.ofThread(offsetof(ThreadContext, threadIdx) + 4 * *axis), kMostThreads - 1);
  if (auto axis = axisOf(name, "ntid"))
    return r.bounded(r.axis(offsetof(BlockContext, blockDim), *axis), kMostThreads);
  if (auto axis = axisOf(name, "ctaid")) return r.axis(offsetof(BlockContext, blockIdx), *axis);
  if (auto axis = axisOf(name, "nctaid")) return r.axis(offsetof(BlockContext, gridDim), *axis);
  // Every block is a cluster of its own.
  if (auto axis = axisOf(name, "clusterid")) return r.axis(offsetof(BlockContext, blockIdx), *axis);
  if (auto axis = axisOf(name, "nclusterid")) return r.axis(offsetof(BlockContext, gridDim), *axis);
  if (axisOf(name, "cluster_ctaid")) return builder.getInt32(0);
  if (axisOf(name, "cluster_nctaid")) return builder.getInt32(1);
  return readSingle(r, name);
}

llvm::Value* registerMarker(llvm::IRBuilderBase& builder, llvm::StringRef name) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  auto callee = module.getOrInsertFunction((kMarkerPrefix + name).str(),
                                           llvm::FunctionType::get(builder.getInt32Ty(), false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  return builder.CreateCall(callee);
}

llvm::StringRef registerReadBy(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  llvm::StringRef name = callee ? callee->getName() : llvm::StringRef();
  return name.consume_front(kIntrinsicPrefix) || name.consume_front(kMarkerPrefix) ? name : llvm::StringRef();
}

bool isKnownRegister(llvm::StringRef name) {
  for (const char* base :
       {"tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"})
    if (axisOf(name, base)) return true;
  static const llvm::StringRef singles[] = {"laneid",
                                            "warpid",
                                            "nwarpid",
                                            "warpsize",
                                            "smid",
                                            "nsmid",
                                            "gridid",
                                            "envreg1",
                                            "envreg2",
                                            "lanemask.eq",
                                            "lanemask.lt",
                                            "lanemask.le",
                                            "lanemask.ge",
                                            "lanemask.gt",
                                            "lanemask_eq",
                                            "lanemask_lt",
                                            "lanemask_le",
                                            "lanemask_ge",
                                            "lanemask_gt",
                                            "total_smem_size",
                                            "aggr_smem_size",
                                            "dynamic_smem_size",
                                            "is_explicit_cluster",
                                            "cluster_ctarank",
                                            "cluster_nctarank"};
  for (llvm::StringRef single : singles)
    if (name == single) return true;
  return false;
}

} // namespace kcheck::instrument
