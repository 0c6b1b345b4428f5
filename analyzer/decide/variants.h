// An access under more than the kernel says: in the first rounds of its loops, or in a lane that has not
// drawn the number of which its place speaks. A race there is a race of the access.
#pragma once

#include "analyzer/decide/question.h"

#include <deque>
#include <optional>
#include <set>
#include <vector>

namespace kcheck::analyzer {

enum class Rounds : std::uint8_t {
  First,
  Tied,    ///< what is replaced keeps that value, for whatever else speaks of it
  OnlyOnes ///< the same, and loops that are over have run one round
};

enum class Promise : std::uint8_t {
  Ascending, ///< of arrays that give it several elements, as the rows of a sparse matrix do
  Distinct   ///< of arrays that its place follows
};

class AccessVariants {
public:
  AccessVariants(Decider& decider, const KernelModel& model) : decider(decider), model(model) {}

  /// Where the condition holds as well.
  const ModelAccess* where(const ModelAccess& access, Expr condition);
  /// Where the number is that one.
  const ModelAccess* with(const ModelAccess& access, Expr number, std::int64_t value);
  /// In the first rounds of all loops; null where the access is in none.
  const ModelAccess* inFirstRounds(const ModelAccess& access, Rounds rounds);
  /// Where what an annotation could promise holds of the arrays whose elements decide about the access;
  /// these objects are added to `arrays`. Null where there is none.
  const ModelAccess* underPromise(const ModelAccess& access, Promise promise, std::set<unsigned>& arrays);
  /// Where one array says where rows begin and another one, or another member of its elements, how long they
  /// are: with rows that lie one behind the other. `rows` are the arrays. Null where there are no such rows.
  const ModelAccess* withRowsApart(const ModelAccess& access, std::set<std::pair<unsigned, unsigned>>& rows);
  /// Some order in which the threads come to the atomic operations that a witness leans on brings the race
  /// about, perhaps in the first rounds of all loops.
  std::optional<Verdict> comeInOrder(const PairQuestion& question, std::vector<Cause>& causes);

private:
  /// Where the thread has not drawn a number of which the place speaks, as another lane has that does not
  /// hand it on. Null where all do, or none.
  const ModelAccess* withoutDrawing(const ModelAccess& access);
  std::set<Expr> elementsIn(Expr root) const;
  std::set<Expr> boundsOf(Expr place, Expr condition) const;
  std::optional<std::int64_t> distanceOfRows(Expr start, Expr length) const;

  Decider& decider;
  const KernelModel& model;
  std::deque<ModelAccess> all; ///< they keep their places
};

} // namespace kcheck::analyzer
