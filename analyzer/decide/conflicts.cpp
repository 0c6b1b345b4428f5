// The rule of conflicting accesses.
#include "analyzer/decide/conflicts.h"

namespace kcheck::analyzer {

/// Device scope is what an atomic has when nothing else is said.
static bool reaches(const ModelAccess& a, Relation relation) {
  if (a.kind != AccessKind::Atomic) return false;
  return relation != Relation::DifferentBlocks || a.scope != AtomicScope::Block;
}

bool isStrong(const ModelAccess& access, Relation relation) {
  if (access.isVolatile) return true;
  return access.scope >= (relation == Relation::DifferentBlocks ? AtomicScope::Device : AtomicScope::Block);
}

/// A volatile read that no loop waits by: that others wait at the place is no excuse for it.
static bool onlyLooks(const ModelAccess& access) {
  return access.kind == AccessKind::Read && access.isVolatile && !access.isPolled;
}

bool areFlagAndPoll(const ModelAccess& a, const ModelAccess& b, Relation relation) {
  return (a.isPolled || b.isPolled) && isStrong(a, relation) && isStrong(b, relation) && !onlyLooks(a) &&
         !onlyLooks(b);
}

bool conflicts(const ModelAccess& a, const ModelAccess& b, Relation relation) {
  if (!a.stores() && !b.stores()) return false;
  if (a.isOfBarrier && b.isOfBarrier) return false;
  if (areFlagAndPoll(a, b, relation) && a.size == b.size) return false;
  return !(reaches(a, relation) && reaches(b, relation)) || a.size != b.size;
}

bool bothReach(const ModelAccess& a, const ModelAccess& b, Relation relation) {
  return reaches(a, relation) && reaches(b, relation);
}

RaceKind raceKindOf(const ModelAccess& a, const ModelAccess& b) {
  if (a.kind == AccessKind::Atomic || b.kind == AccessKind::Atomic) return RaceKind::AtomicPlain;
  bool bothWrite = a.kind == AccessKind::Write && b.kind == AccessKind::Write;
  return bothWrite ? RaceKind::WriteWrite : RaceKind::ReadWrite;
}

} // namespace kcheck::analyzer
