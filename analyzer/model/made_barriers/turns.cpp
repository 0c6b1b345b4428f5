// What a number is made of when a thread meets the others, in the words of what was when it met them last:
// each value that the way between computes anew is followed back, any other is what it was.
#include "analyzer/model/made_barriers/turns.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::size_t kMostResults = 8;

bool walk(std::vector<const BasicBlock*> todo, const BasicBlock* to,
          const std::function<bool(const BasicBlock*)>& isBlocked) {
  std::set<const BasicBlock*> seen;
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (isBlocked(block) || !seen.insert(block).second) continue;
    if (block == to) return true;
    todo.insert(todo.end(), succ_begin(block), succ_end(block));
  }
  return false;
}

} // namespace

/// Whether the way leads there before any other meeting.
bool Turns::reaches(const Way& way, Block to, Block avoiding) const {
  const auto isBlocked = [&](Block block) {
    if (block == avoiding) return true;
    return std::any_of(all.begin(), all.end(), [&](const Turn& turn) {
      return turn.to == block || (turn.from == block && turn.from != way.end->from);
    });
  };
  const Block start = way.start ? way.start : &kernel.getEntryBlock();
  if (start == to) return true;
  if (start == avoiding) return false;
  if (!way.start) return walk({start}, to, isBlocked);
  return walk({succ_begin(start), succ_end(start)}, to, isBlocked);
}

bool Turns::leads(const Way& way, Block from, Block to) const {
  return from == to || reaches({from, way.end}, to);
}

Turns::Results Turns::atomAtEnd(const Way& way, const Value& atom, Block used) {
  auto* instruction = dyn_cast<Instruction>(&atom);
  if (isa<llvm::Argument>(atom)) return std::vector{Sum::of(&atom)};
  if (!instruction) return {};
  const Block home = instruction->getParent();
  auto* phi = dyn_cast<PHINode>(instruction);
  // Phis of the block that begins with the barrier come before it.
  const bool isOfStart = way.start && home == way.start && phi;
  const bool mayBeOld = way.start && (isOfStart || (home != used && reaches(way, used, home)));
  const bool mayBeNew = !isOfStart && reaches(way, home) && leads(way, home, used);
  std::vector<Sum> result;
  if (mayBeOld) result.push_back(Sum::of(&atom));
  if (!mayBeNew) return result;
  if (!phi || !active.insert(&atom).second) return {};
  for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
    const Block from = phi->getIncomingBlock(i);
    if (!reaches(way, from)) continue;
    auto values = atEnd(way, sums.of(phi->getIncomingValue(i)), from);
    if (!values) {
      active.erase(&atom);
      return {};
    }
    result.insert(result.end(), values->begin(), values->end());
  }
  active.erase(&atom);
  if (result.size() > kMostResults) return {};
  return result;
}

Turns::Results Turns::atEnd(const Way& way, const Sum& sum, Block used) {
  std::vector<Sum> result{Sum()};
  for (const auto& [product, count] : sum.terms) {
    std::vector<Sum> products{Sum(count)};
    for (SumAtom atom : product) {
      // Dimensions of the grid are the same everywhere.
      const bool isOfGrid = !sums.isValue(atom);
      const auto values =
          isOfGrid ? Results{{Sum::of(atom)}} : atomAtEnd(way, *static_cast<const Value*>(atom), used);
      if (!values) return {};
      std::vector<Sum> all;
      for (const Sum& left : products)
        for (const Sum& right : *values) all.push_back(left.times(right));
      products = std::move(all);
      if (products.size() > kMostResults) return {};
    }
    std::vector<Sum> all;
    for (const Sum& left : result)
      for (const Sum& right : products) all.push_back(left.plus(right));
    result = std::move(all);
    if (result.size() > kMostResults) return {};
  }
  std::set<SumAtom> inverted;
  for (SumAtom atom : sum.inverted) {
    const auto values =
        sums.isValue(atom) ? atomAtEnd(way, *static_cast<const Value*>(atom), used) : Results();
    if (!values) return {};
    for (const Sum& value : *values) {
      const bool isBit = value.isConstant() && (value.constant() == 0 || value.constant() == 1);
      const SumAtom only = value.onlyAtom();
      if (!isBit && !only) return {};
      if (only) inverted.insert(only);
    }
  }
  for (Sum& one : result) one.inverted.insert(inverted.begin(), inverted.end());
  return result;
}

bool Turns::go(const Sum& first, const std::function<bool(const Sum&, const Sum&)>& follows) {
  for (const Turn& now : all) {
    if (Way way{nullptr, &now}; reaches(way, now.from)) {
      const auto values = atEnd(way, now.number, now.used);
      if (!values || !std::all_of(values->begin(), values->end(),
                                  [&](const Sum& v) { return v == first && v.inverted.empty(); }))
        return false;
    }
    for (const Turn& before : all) {
      Way way{before.to, &now};
      if (!reaches(way, now.from)) continue;
      const auto values = atEnd(way, now.number, now.used);
      if (!values || values->empty() || !std::all_of(values->begin(), values->end(), [&](const Sum& v) {
            return follows(before.number, v);
          }))
        return false;
    }
  }
  return true;
}

} // namespace kcheck::analyzer
