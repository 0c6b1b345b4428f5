#include "analyzer/launch_groups.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace kcheck::analyzer {

bool passesTwice(const Launch& launch) {
  std::set<std::size_t> led;
  bool twice = !launch.mayBeOne.empty();
  for (const Argument& argument : launch.arguments) {
    if (argument.allocation)
      twice |= !led.insert(*argument.allocation).second;
    else if (argument.passed)
      for (const PassedValue::Pointer& pointer : argument.passed->pointers)
        twice |= !led.insert(pointer.allocation).second;
  }
  return twice;
}

std::optional<PassedValue::Range> rangeOf(const std::vector<std::optional<std::int64_t>>& values) {
  constexpr std::int64_t kFar = std::int64_t(1) << 40;
  std::int64_t least = kFar, most = -kFar, step = 0;
  for (const auto& value : values) {
    if (!value || *value < -kFar || *value > kFar) return std::nullopt;
    least = std::min(least, *value);
    most = std::max(most, *value);
    step = std::gcd(step, *value - *values.front());
  }
  if (step == 0) step = 1;
  return PassedValue::Range{least, step, (most - least) / step + 1};
}

namespace {

/// The offsets into one buffer, or the integers, that launches pass.
std::optional<PassedValue::Range> rangeOf(const std::vector<const Launch*>& launches, std::size_t number) {
  std::vector<std::optional<std::int64_t>> values;
  for (const Launch* launch : launches) {
    const Argument& argument = launch->arguments[number];
    values.push_back(argument.allocation ? argument.byteOffset : argument.value);
    if (!argument.passed || !argument.passed->range) continue;
    const PassedValue::Range& range = *argument.passed->range;
    values.back() = range.least;
    for (const std::int64_t other : {std::min<std::int64_t>(1, range.count - 1), range.count - 1})
      values.push_back(range.least + range.step * other);
  }
  return analyzer::rangeOf(values);
}

/// What differs in a structure is not known.
void joinStructure(PassedValue& mine, const PassedValue& theirs) {
  for (std::size_t at = 0; at < mine.bytes.size(); ++at)
    if (at >= theirs.bytes.size() || theirs.bytes[at] != mine.bytes[at]) mine.bytes[at].reset();
  std::erase_if(mine.pointers, [&](const PassedValue::Pointer& pointer) {
    return std::ranges::find(theirs.pointers, pointer) == theirs.pointers.end();
  });
}

void join(Argument& mine, const std::vector<const Launch*>& launches, std::size_t number) {
  const bool isPointer = mine.allocation.has_value();
  const auto agrees = [&](auto member) {
    return std::ranges::all_of(
        launches, [&](const Launch* launch) { return launch->arguments[number].*member == mine.*member; });
  };
  const bool sameBuffer = agrees(&Argument::allocation);
  if (std::ranges::any_of(launches, [&](const Launch* launch) {
        return launch->arguments[number].freed.known() != mine.freed.known();
      }))
    mine.freed = {};
  if (sameBuffer && agrees(&Argument::byteOffset) && agrees(&Argument::value) && agrees(&Argument::passed) &&
      !mine.formula)
    return;
  mine.formula.reset();
  mine.freed = {};
  if (mine.passed && !mine.passed->bytes.empty()) { // a structure
    for (const Launch* launch : launches)
      if (const auto& theirs = launch->arguments[number].passed) joinStructure(*mine.passed, *theirs);
    return;
  }
  mine.value.reset();
  mine.byteOffset.reset();
  mine.passed.reset();
  if (!sameBuffer) return mine.allocation.reset();
  if (auto range = rangeOf(launches, number); range && (isPointer || range->count > 1)) {
    mine.passed.emplace();
    mine.passed->range = range;
  }
}

} // namespace

std::optional<Launch> joinedLaunch(const std::vector<const Launch*>& launches) {
  Launch one = *launches.front();
  one.isJoined = true;
  one.gridFormulas = one.blockFormulas = {};
  one.conditions.clear();
  for (const Launch* other : launches) {
    if (!one.unfollowed.known()) one.unfollowed = other->unfollowed;
    if (other->block != one.block || other->arguments.size() != one.arguments.size() || passesTwice(*other))
      return std::nullopt;
    for (auto axis : {&Extent::x, &Extent::y, &Extent::z})
      if (other->grid.*axis != launches.front()->grid.*axis) (one.grid.*axis).reset();
    if (other->sharedBytes != one.sharedBytes) one.sharedBytes.reset();
  }
  for (std::size_t i = 0; i < one.arguments.size(); ++i) join(one.arguments[i], launches, i);
  return one;
}

} // namespace kcheck::analyzer
