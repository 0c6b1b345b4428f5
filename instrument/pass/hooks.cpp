// A runtime call before every access. Hooks go in before any optimisation: they are opaque calls that keep
// the accesses' order, so whatever the optimiser does to the access itself later, its check has been made.
// Accesses of a thread's own variables get none, except for arrays indexed at a computed place.
#include "instrument/pass/hooks.h"

#include "instrument/pass/bit_fields.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"
#include "ptx/read_only.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <set>

namespace kcheck::instrument {

namespace {

constexpr std::uint32_t kLoadBit = 1 << 8, kStoreBit = 1 << 9;

std::uint32_t orderBits(llvm::AtomicOrdering ordering) {
  switch (ordering) {
  case llvm::AtomicOrdering::Acquire: return 1;
  case llvm::AtomicOrdering::Release: return 2;
  case llvm::AtomicOrdering::AcquireRelease: return 3;
  case llvm::AtomicOrdering::SequentiallyConsistent: return 4;
  default: return 0;
  }
}

/// One access of an instruction; a memcpy has two.
struct HookRequest {
  Call call;
  llvm::Value* address;
  llvm::Value* bytes;
  std::uint32_t order = 0;
  abi::SiteKind kind = abi::SiteKind::Read;
};

class HookWriter {
public:
  explicit HookWriter(DeviceCode& code)
      : code(code), siteKind(code.module.getMDKindID(kSiteMetadata)),
        sourceKind(code.module.getMDKindID(kSourceSiteMetadata)) {}

  void visit(llvm::Instruction& instruction) {
    if (instruction.getMetadata(kOwnMetadata)) return; // a field of the thread's context
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      visitPlain(*load, load->getPointerOperand(), load->getType(), load->isVolatile(), load->getOrdering(),
                 load->getSyncScopeID(), false);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      visitPlain(*store, store->getPointerOperand(), store->getValueOperand()->getType(), store->isVolatile(),
                 store->getOrdering(), store->getSyncScopeID(), true);
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      hookUpdate(*update, update->getPointerOperand(), update->getType(), update->getOrdering(),
                 update->getSyncScopeID());
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      hookUpdate(*exchange, exchange->getPointerOperand(), exchange->getCompareOperand()->getType(),
                 exchange->getSuccessOrdering(), exchange->getSyncScopeID());
    } else if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) {
      llvm::IRBuilder<> builder(fence);
      builder.CreateCall(runtimeCall(code.module, Call::kcFence),
                         {threadMarker(builder), builder.getInt32(scopeOf(fence->getSyncScopeID()))});
    } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
      request(*copy, {Call::kcRead, copy->getRawSource(), copy->getLength()},
              libraryFlag(*copy) | alignmentFlag(copy->getSourceAlign().valueOrOne(), copy->getLength()));
      request(*copy, {Call::kcWrite, copy->getRawDest(), copy->getLength(), 0, abi::SiteKind::Write},
              alignmentFlag(copy->getDestAlign().valueOrOne(), copy->getLength()));
    } else if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction)) {
      request(*fill, {Call::kcWrite, fill->getRawDest(), fill->getLength(), 0, abi::SiteKind::Write},
              alignmentFlag(fill->getDestAlign().valueOrOne(), fill->getLength()));
    } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isIndirectCall()) {
      llvm::IRBuilder<> builder(call);
      const std::uint32_t site = code.sites.add(abi::SiteKind::Other, 0, call->getDebugLoc());
      builder.CreateCall(runtimeCall(code.module, Call::kcCallee),
                         {threadMarker(builder), call->getCalledOperand(), builder.getInt32(site)});
    }
  }

  /// `x.field += 1` reads its word twice at one place, once for the value.
  void finish() {
    for (std::uint32_t site : readsValue) code.sites[site].flags &= std::uint16_t(~abi::SiteKeepsBits);
  }

private:
  DeviceCode& code;
  unsigned siteKind, sourceKind;
  std::set<std::uint32_t> readsValue;

  unsigned libraryFlag(const llvm::Instruction& read) const {
    return read.getDebugLoc() && !code.isUserPlace(read.getDebugLoc()) ? abi::SiteOfLibrary : 0;
  }

  static unsigned alignmentFlag(llvm::Align known, const llvm::Value* bytes) {
    constexpr std::uint64_t kWidest = 16; // copies and fills of any size ask for no more
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(bytes);
    return known.value() < (constant ? constant->getZExtValue() : kWidest) ? abi::SiteInParts : 0;
  }

  std::uint32_t scopeOf(llvm::SyncScope::ID id) const {
    llvm::SmallVector<llvm::StringRef> names;
    code.module.getContext().getSyncScopeNames(names);
    if (id < names.size()) {
      if (names[id] == "block" || names[id] == "workgroup") return 1;
      if (names[id] == "device" || names[id] == "agent") return 2;
      if (names[id] == "singlethread" || names[id] == "wavefront") return 1;
    }
    return 3;
  }

  llvm::Value* bytesOf(llvm::Type* type) {
    auto bytes = code.module.getDataLayout().getTypeStoreSize(type).getFixedValue();
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(type->getContext()), bytes);
  }

  void visitPlain(llvm::Instruction& access, llvm::Value* address, llvm::Type* type, bool isVolatile,
                  llvm::AtomicOrdering ordering, llvm::SyncScope::ID scope, bool isStore) {
    HookRequest hook{isStore ? Call::kcWrite : Call::kcRead, address, bytesOf(type)};
    hook.kind = isStore ? abi::SiteKind::Write : abi::SiteKind::Read;
    if (ordering != llvm::AtomicOrdering::NotAtomic) {
      hook.call = Call::kcAtomic;
      hook.kind = abi::SiteKind::Atomic;
      hook.order = orderBits(ordering) | scopeOf(scope) << 4 | (isStore ? kStoreBit : kLoadBit);
    }
    unsigned flags = isVolatile ? abi::SiteVolatile : 0;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&access);
    if (load && isBitFieldUpdate(*load)) flags |= abi::SiteKeepsBits;
    if (load) flags |= libraryFlag(*load) | (ptx::isReadOnly(*load) ? abi::SiteLoadNonCoherent : 0);
    if (ordering == llvm::AtomicOrdering::NotAtomic)
      flags |= alignmentFlag(llvm::getLoadStoreAlignment(&access), hook.bytes);
    request(access, hook, flags);
  }

  /// clang writes atomicAdd and its relatives as `seq_cst` of system scope; CUDA defines them as relaxed and
  /// of device scope. What lowerDevice writes itself names its scope.
  void hookUpdate(llvm::Instruction& access, llvm::Value* address, llvm::Type* type,
                  llvm::AtomicOrdering ordering, llvm::SyncScope::ID scope) {
    bool isPlainCuda =
        ordering == llvm::AtomicOrdering::SequentiallyConsistent && scope == llvm::SyncScope::System;
    std::uint32_t bits = isPlainCuda ? 2 << 4 : orderBits(ordering) | scopeOf(scope) << 4;
    request(access,
            {Call::kcAtomic, address, bytesOf(type), bits | kLoadBit | kStoreBit, abi::SiteKind::Atomic});
  }

  std::uint32_t siteOf(llvm::Instruction& access, const HookRequest& hook) {
    bool isSource = llvm::isa<llvm::MemTransferInst>(access) && hook.kind == abi::SiteKind::Read;
    if (auto* node = access.getMetadata(isSource ? sourceKind : siteKind)) {
      auto id = llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0))->getZExtValue();
      if (id < code.facts.sites.size()) return std::uint32_t(id);
    }
    auto* constant = llvm::dyn_cast<llvm::ConstantInt>(hook.bytes);
    return code.sites.add(hook.kind, constant ? constant->getZExtValue() : 0, access.getDebugLoc());
  }

  void request(llvm::Instruction& access, const HookRequest& hook, unsigned flags = 0) {
    const Locality where = localityOf(hook.address, hook.bytes);
    if (where.kind == Locality::Inside) return;
    llvm::IRBuilder<> builder(&access);
    llvm::Value* thread = threadMarker(builder);
    std::uint32_t site = siteOf(access, hook);
    SiteRow& row = code.sites[site];
    row.flags |= flags;
    if (hook.kind == abi::SiteKind::Read && !(flags & abi::SiteKeepsBits)) readsValue.insert(site);
    if (!row.bytes)
      if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(hook.bytes))
        row.bytes = constant->getZExtValue();
    llvm::Value* address = hook.address;
    if (address->getType()->getPointerAddressSpace() != 0)
      address = builder.CreateAddrSpaceCast(address, builder.getPtrTy());
    auto* bytes = builder.CreateZExtOrTrunc(hook.bytes, builder.getInt64Ty());
    if (where.kind == Locality::Computed) {
      builder.CreateCall(
          runtimeCall(code.module, Call::kcLocal),
          {thread, where.base, builder.getInt64(where.bytes), address, bytes, builder.getInt32(site)});
      return;
    }
    std::vector<llvm::Value*> arguments = {thread, address, bytes, builder.getInt32(site)};
    if (hook.call == Call::kcAtomic) arguments.push_back(builder.getInt32(hook.order));
    builder.CreateCall(runtimeCall(code.module, hook.call), arguments);
  }
};

} // namespace

Locality localityOf(llvm::Value* address, llvm::Value* length) {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(address, objects, nullptr, 0);
  Locality result;
  auto bytesOfLocal = [&](const llvm::Value* object) -> std::optional<std::uint64_t> {
    if (const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(object)) {
      auto size = alloca->getAllocationSize(alloca->getModule()->getDataLayout());
      return size ? size->getFixedValue() : ~std::uint64_t{0};
    }
    const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
    if (argument && argument->hasByValAttr()) {
      const auto& layout = argument->getParent()->getParent()->getDataLayout();
      return layout.getTypeAllocSize(argument->getParamByValType()).getFixedValue();
    }
    return std::nullopt;
  };
  for (const llvm::Value* object : objects)
    if (!bytesOfLocal(object)) return result;
  if (objects.empty()) return result;
  result.kind = Locality::Inside;
  if (objects.size() > 1) return result;
  result.base = const_cast<llvm::Value*>(objects.front());
  result.bytes = *bytesOfLocal(result.base);
  if (result.bytes == ~std::uint64_t{0})
    return result; // an array of variable length: its extent is not known here

  llvm::APInt offset(64, 0);
  const auto* function = llvm::isa<llvm::Instruction>(result.base)
                             ? llvm::cast<llvm::Instruction>(result.base)->getFunction()
                             : llvm::cast<llvm::Argument>(result.base)->getParent();
  const auto& layout = function->getParent()->getDataLayout();
  llvm::Value* start = address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(length);
  bool inside = start == result.base && fixed && offset.sge(0) &&
                offset.getZExtValue() + fixed->getZExtValue() <= result.bytes;
  if (!inside) result.kind = Locality::Computed;
  return result;
}

void insertHooks(DeviceCode& code) {
  HookWriter writer(code);
  for (llvm::Function& function : code.module) {
    std::vector<llvm::Instruction*> accesses;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (instruction.mayReadOrWriteMemory()) accesses.push_back(&instruction);
    for (llvm::Instruction* access : accesses) writer.visit(*access);
  }
  writer.finish();
}

} // namespace kcheck::instrument
