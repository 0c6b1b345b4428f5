#include "analyzer/findings/lock_hints.h"

#include "report/hints.h"

#include <fmt/format.h>

#include <algorithm>

namespace kcheck::analyzer {
namespace {

std::string named(const LockPlace& lock, const FindingContext& context) {
  return fmt::format("`{}` at line {}", context.model.objects[lock.object].name, lock.where.line);
}

bool isTellable(const LockPlace& lock, const FindingContext& context) {
  const MemoryObject& object = context.model.objects[lock.object];
  return lock.where.known() && !object.isUnknown && !object.name.empty();
}

/// The same for all threads, so far as its words say.
bool isOne(const LockPlace& lock) { return variesOf(lock.offset) == Varies::Never; }

/// One array of locks, of which each of the two takes one of its own.
bool areOfOneArray(const LockPlace& x, const LockPlace& y) { return x.object == y.object && !isOne(x); }

/// Whether it may hold a lock that is not followed.
bool mayHoldAnother(const ModelAccess& access, const FindingContext& context) {
  return anyNode(access.condition,
                 [&](Expr n) { return n->op == Op::Symbol && context.model.underLocks.contains(n->symbol); });
}

std::string ofOneHolder(const LockPlace& held, const Location& other, const FindingContext& context) {
  return fmt::format("the lock {} is not held at line {}{}", named(held, context), other.line, kTakeTheSame);
}

} // namespace

std::string lockHint(const RaceResult& race, const FindingContext& context) {
  const std::vector<LockPlace>&x = race.first->locks, &y = race.second->locks;
  const auto isUntold = [&](const LockPlace& lock) { return !isTellable(lock, context); };
  if (x.empty() && y.empty()) return "";
  if (std::ranges::any_of(x, isUntold) || std::ranges::any_of(y, isUntold)) return "";
  if (mayHoldAnother(*race.first, context) || mayHoldAnother(*race.second, context)) return "";
  if (x.empty()) return ofOneHolder(y.front(), race.first->where, context);
  if (y.empty()) return ofOneHolder(x.front(), race.second->where, context);
  for (const LockPlace& a : x)
    for (const LockPlace& b : y)
      if (a.object == b.object && a.offset == b.offset && isOne(a)) return ""; // it is the fences
  const LockPlace &a = x.front(), &b = y.front();
  if (areOfOneArray(a, b))
    return fmt::format("the locks {} are several, and the two threads hold different ones{}",
                       named(a, context), kTakeTheSame);
  return fmt::format("two locks do not keep each other out: {} and {}{}", named(a, context),
                     named(b, context), kTakeTheSame);
}

} // namespace kcheck::analyzer
