#include "analyzer/model/apart.h"

using namespace llvm;

namespace kcheck::analyzer {

/// The host code shows where the buffer comes from, or the run did; of others it shows no more than that
/// several pointers lead into one.
static bool showsOrigin(const Facts& facts, std::size_t allocation) {
  const Allocation& buffer = facts.allocations[allocation];
  return buffer.where.known() || buffer.bytes || buffer.formula;
}

bool overlapMatters(const KernelState& state) {
  if (state.launch.mayAlias) return false;
  unsigned plain = 0, unknown = 0;
  for (auto& argument : state.code.function->args()) {
    if (!argument.getType()->isPointerTy() || argument.hasByValAttr() || argument.hasNoAliasAttr()) continue;
    ++plain;
    const unsigned number = argument.getArgNo();
    const kcheck::Argument* given = state.launch.launch && number < state.launch.launch->arguments.size()
                                        ? &state.launch.launch->arguments[number]
                                        : nullptr;
    const bool isNull = given && given->passed && given->passed->integer(0, 8) == 0;
    unknown += !isNull && !(given && given->allocation && showsOrigin(state.facts, *given->allocation));
  }
  return plain > 1 && unknown > 0;
}

bool variablesMatter(KernelState& state) {
  bool isHidden = false;
  for (auto& argument : state.code.function->args()) {
    if (!argument.getType()->isPointerTy() || argument.hasByValAttr()) continue;
    const unsigned number = argument.getArgNo();
    const bool isShown = state.launch.launch && number < state.launch.launch->arguments.size() &&
                         state.launch.launch->arguments[number].allocation &&
                         showsOrigin(state.facts, *state.launch.launch->arguments[number].allocation);
    isHidden = isHidden || !isShown;
  }
  if (!isHidden) return false;
  for (const MemoryObject& object : state.objects.all())
    if (object.space == MemorySpace::Global && state.objects.keyOf(object.id).starts_with("@")) return true;
  return false;
}

} // namespace kcheck::analyzer
