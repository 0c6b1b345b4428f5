// Which two accesses to the same bytes are a race, order left aside.
#pragma once

#include "analyzer/decide/races.h"

namespace kcheck::analyzer {

/// Whether accesses of two threads so related conflict when they touch the same bytes without order: one of
/// them writes, they are not both atomic at a scope that reaches the other thread, and are no flag that a
/// loop waits for. Atomics of different sizes conflict as well: the language does not say that they see each
/// other whole.
bool conflicts(const ModelAccess& a, const ModelAccess& b, Relation relation);
/// Looked at as a whole and not kept in a register, and seen as far as the other thread is away.
bool isStrong(const ModelAccess& access, Relation relation);
/// A loop waits for what is found there by one access, and the other is no weaker: no race on the flag
/// itself.
bool areFlagAndPoll(const ModelAccess& a, const ModelAccess& b, Relation relation);
/// Both are atomic at a scope that reaches the other thread.
bool bothReach(const ModelAccess& a, const ModelAccess& b, Relation relation);

/// Of two accesses that conflict.
RaceKind raceKindOf(const ModelAccess& a, const ModelAccess& b);

} // namespace kcheck::analyzer
