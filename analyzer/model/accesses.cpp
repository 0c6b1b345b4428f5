// Accesses as the model keeps them: where, what kind, under which condition, with what orders it.
#include "analyzer/model/execution.h"

#include "report/metadata.h"

using namespace llvm;

namespace kcheck::analyzer {

static AtomicScope scopeOfFence(unsigned reach) {
  return reach == 0 ? AtomicScope::None : reach == 1 ? AtomicScope::Block : AtomicScope::Device;
}

/// What the instruction alone says of it.
static unsigned alignOf(const Instruction& instruction) {
  if (auto* load = dyn_cast<LoadInst>(&instruction)) return unsigned(load->getAlign().value());
  if (auto* store = dyn_cast<StoreInst>(&instruction)) return unsigned(store->getAlign().value());
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) return unsigned(update->getAlign().value());
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return unsigned(exchange->getAlign().value());
  return 1;
}

ModelAccess Execution::accessOf(const Instruction& instruction, AccessKind kind) const {
  const auto& sites = state.facts.sites;
  ModelAccess access;
  access.site = siteOf(instruction, kind == AccessKind::Read);
  access.where = locationOf(instruction);
  const SiteId told = access.site == kNoSite ? wholeOf(instruction) : access.site;
  // Of what a library does: where it is called.
  if (told < sites.size() && sites[told].where.known() && !sites[told].inSystemHeader)
    access.where = sites[told].where;
  access.kind = kind;
  for (const Loop* loop = state.loopInfo.getLoopFor(instruction.getParent()); loop;
       loop = loop->getParentLoop())
    access.loops.push_back(loop->getHeader());
  access.isLoad = isa<LoadInst>(instruction);
  access.align = alignOf(instruction);
  const auto lock = state.sections.valuesOf(instruction);
  const bool takesLock = lock && (lock->turn || !state.sections.givesBack(instruction));
  access.isPolled = state.polled.count(&instruction) != 0 || takesLock;
  access.fenceBefore = scopeOfFence(state.fences.before(instruction));
  access.fenceAfter = scopeOfFence(state.fences.after(instruction));
  access.isOfBarrier = instruction.getMetadata(kPartOfBarrier) != nullptr;
  access.inLibrary = instruction.getMetadata(kLibraryMetadata) != nullptr ||
                     (access.site < sites.size() && sites[access.site].inSystemHeader);
  return access;
}

/// With what bounds the tickets in `offset` where they were drawn.
Expr Execution::whereDrawn(Expr offset, Expr condition) {
  if (state.drawnWithin.empty()) return condition;
  anyNode(offset, [&](Expr n) {
    auto within = state.drawnWithin.find(n);
    if (within != state.drawnWithin.end()) condition = exprs.logicalAnd(condition, within->second);
    return false;
  });
  return condition;
}

void Execution::record(const Instruction& instruction, AccessKind kind, Expr pointer, Expr size,
                       Expr condition, Expr stored_, AtomicScope scope, bool isVolatile) {
  if (stored_ && stored_->width == 64) state.objects.letEscape(stored_);
  for (const Place& place : state.objects.places(pointer)) {
    if (kind != AccessKind::Read) {
      stored.insert(place.object);
      storedHere.insert(place.object);
    }
    if (kind == AccessKind::Write || isa<StoreInst>(instruction)) noteUpdate(instruction, place.object, {});
    if (!recording) continue;
    ModelAccess access = accessOf(instruction, kind);
    access.scope = scope;
    access.isVolatile = isVolatile;
    access.object = place.object;
    access.offset = afterVoting(place.offset, condition);
    access.size = size;
    access.condition = exprs.logicalAnd(exprs.logicalAnd(condition, place.guard), waited(instruction));
    access.condition = whereDrawn(place.offset, access.condition);
    access.stored = stored_;
    if (state.knowsWritten) access.locks = locksAt(instruction);
    if (access.locks.size() < state.sections.countAt(instruction))
      access.condition = exprs.logicalAnd(access.condition, underLock(instruction));
    access.arrivals = arrivalsAt(instruction, access.condition);
    noteFlags(instruction, access);
    notePhases(instruction, access);
    if (isFalse(access.condition)) continue;
    access.condition = state.withDefinitions(access.condition, {access.offset, access.size});
    nameLocals(instruction, access);
    if (!isFalse(access.condition)) accesses.push_back({&instruction, std::move(access)});
  }
}

} // namespace kcheck::analyzer
