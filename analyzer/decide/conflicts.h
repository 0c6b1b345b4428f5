// Which two accesses to the same bytes are a race, order left aside.
#pragma once

#include "analyzer/decide/races.h"

namespace kcheck::analyzer {

/// Whether accesses of two threads so related conflict when they touch the same bytes without order: one of
/// them writes, and they are not both atomic at a scope that reaches the other thread. Atomics of different
/// sizes conflict as well: the language does not say that they see each other whole.
bool conflicts(const ModelAccess& a, const ModelAccess& b, Relation relation);
/// Both are atomic at a scope that reaches the other thread.
bool bothReach(const ModelAccess& a, const ModelAccess& b, Relation relation);

/// Of two accesses that conflict.
RaceKind raceKindOf(const ModelAccess& a, const ModelAccess& b);

} // namespace kcheck::analyzer
