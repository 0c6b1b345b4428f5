#include "analyzer/model/loops/courses.h"

#include "analyzer/model/kernel_state.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace kcheck::analyzer {
namespace {

enum class Way { Still, Up, Down, One, Any }; ///< One: up or down, and always the same

struct Course {
  Way way = Way::Any;
  bool isEven = true; ///< by the same amount in each round
};

constexpr unsigned kNarrow = 32; ///< of numbers below this width, sums and products wrap unless flags deny it
constexpr std::int64_t kLongest = 1 << 20; ///< steps; of longer ones, too

Course turned(Course course) {
  if (course.way == Way::Up || course.way == Way::Down)
    course.way = course.way == Way::Up ? Way::Down : Way::Up;
  return course;
}

Course sum(Course a, Course b) {
  if (a.way == Way::Still) return b;
  if (b.way == Way::Still) return a;
  const bool isEven = a.isEven && b.isEven;
  if (a.way == b.way && a.way != Way::One) return {a.way, isEven};
  return {isEven && a.way != Way::Any && b.way != Way::Any ? Way::One : Way::Any, isEven};
}

class Courses {
public:
  Courses(Expr counter, bool isUnsigned) : counter(counter), isUnsigned(isUnsigned) {}

  Course of(Expr e) {
    if (e == counter) return {Way::Up};
    if (!mentions(e)) return {Way::Still};
    const auto found = known.find(e);
    return found != known.end() ? found->second : known[e] = find(e);
  }

private:
  Course find(Expr e) {
    switch (e->op) {
    case Op::Add: return keeps(e) ? sum(of(e->operands[0]), of(e->operands[1])) : Course();
    case Op::Mul: return keeps(e) ? product(e->operands[0], e->operands[1], e->flags) : Course();
    case Op::ZExt:
    case Op::SExt: return of(e->operands[0]);
    case Op::Trunc: return e->flags ? of(e->operands[0]) : Course();
    case Op::UDiv:
    case Op::SDiv: return isConst(e->operands[1]) ? divided(e->operands[0], e->operands[1]->value) : Course();
    case Op::Shl: return shifted(e);
    case Op::LShr:
    case Op::AShr: return shiftedDown(e);
    case Op::Ite: return chosen(e);
    default: return {};
    }
  }

  bool mentions(Expr e) const {
    return anyNode(e, [&](Expr n) { return n == counter; });
  }
  static bool keeps(Expr e) { return e->width >= kNarrow || e->flags; }

  Course product(Expr a, Expr b, std::uint8_t flags) {
    if (mentions(a)) std::swap(a, b);
    if (mentions(a)) return {};
    const Course moving = of(b);
    const bool isLong = isConst(a) && (a->value > kLongest || a->value < -kLongest); // soon wraps
    if (isLong && !flags) return {};
    if (isConst(a)) return a->value >= 0 ? moving : turned(moving);
    if (isNonNegative(a)) return moving;
    return {moving.way == Way::Any ? Way::Any : Way::One, moving.isEven};
  }
  Course divided(Expr e, std::int64_t by) {
    Course course = of(e);
    if (by <= 0) return {};
    course.isEven = by == 1 && course.isEven;
    return course;
  }
  /// Of `x << c` the low bits are kept only where x is small, which its flags say; `c << k` grows until it
  /// wraps.
  Course shifted(Expr e) {
    Expr base = e->operands[0], count = e->operands[1];
    if (!mentions(count)) return e->flags ? of(base) : Course();
    const Course moving = of(count);
    const bool grows = !mentions(base) && moving.way == Way::Up && isNonNegative(base);
    return grows ? Course{Way::Up, false} : Course();
  }
  Course shiftedDown(Expr e) {
    Expr base = e->operands[0], count = e->operands[1];
    if (!mentions(count)) return isConst(count) ? Course{of(base).way, false} : Course();
    if (mentions(base) || of(count).way != Way::Up) return {};
    if (isNonNegative(base)) return {Way::Down, false};
    if (e->op == Op::AShr) return {Way::One, false};
    return isUnsigned ? Course{Way::Down, false} : Course(); // a negative number would turn positive
  }
  /// Values round by round: `k == 0 ? 1 : k == 1 ? 2 : 4`.
  Course listed(Expr e) {
    std::map<std::int64_t, std::int64_t> values;
    Expr number = e->operands[0]->op == Op::Eq ? e->operands[0]->operands[0] : nullptr;
    if (!number || !isNonNegative(number) || of(number).way != Way::Up) return {};
    while (e->op == Op::Ite && e->operands[0]->op == Op::Eq && e->operands[0]->operands[0] == number &&
           isConst(e->operands[0]->operands[1]) && isConst(e->operands[1])) {
      values.try_emplace(e->operands[0]->operands[1]->value, e->operands[1]->value);
      e = e->operands[2];
    }
    if (!isConst(e) || values.empty()) return {};
    bool rises = true, falls = true;
    std::int64_t before = values.begin()->second, round = -1;
    for (const auto& [at, value] : values) {
      if (at != ++round) return {}; // the last value may stand for a round between these
      rises = rises && value >= before;
      falls = falls && value <= before;
      before = value;
    }
    rises = rises && e->value >= before;
    falls = falls && e->value <= before;
    return rises ? Course{Way::Up, false} : falls ? Course{Way::Down, false} : Course();
  }
  Course chosen(Expr e) {
    if (mentions(e->operands[0])) return listed(e);
    const Course a = of(e->operands[1]), b = of(e->operands[2]);
    if (a.way == Way::Any || b.way == Way::Any) return {};
    const bool isEven = a.isEven && b.isEven;
    if (a.way == b.way || b.way == Way::Still) return {a.way, isEven};
    return {a.way == Way::Still ? b.way : Way::One, isEven};
  }

  Expr counter;
  bool isUnsigned; ///< how the condition reads the numbers
  std::unordered_map<Expr, Course> known;
};

/// Whether the sum may begin below zero, where it is a huge number without sign.
bool mayStartBelowZero(Expr e, Expr counter) {
  if (isNonNegative(e)) return false;
  if (e->op == Op::ZExt || e->op == Op::SExt || e->op == Op::Trunc)
    return mayStartBelowZero(e->operands[0], counter);
  if (e->op != Op::Add && e->op != Op::Mul) return isConst(e) && e->value < 0;
  if (e->op == Op::Mul) {
    const bool isMoving = e->operands[0] == counter || e->operands[1] == counter; // nothing at first
    return !isMoving &&
           std::ranges::any_of(e->operands, [&](Expr part) { return isConst(part) && part->value < 0; });
  }
  return std::ranges::any_of(e->operands, [&](Expr part) { return mayStartBelowZero(part, counter); });
}

/// Of numbers read without sign, whether one side passes zero on its way: from there on it lies far on the
/// other side.
bool passesZero(Courses& courses, Expr less, Expr more, Expr counter) {
  const Way left = courses.of(less).way, right = courses.of(more).way;
  return (left == Way::Up && mayStartBelowZero(less, counter)) ||
         (right == Way::Down && !isNonNegative(more));
}

} // namespace

Held heldBefore(Expr condition, Expr counter) {
  if (!anyNode(condition, [&](Expr n) { return n == counter; })) return Held::Before;
  if (condition->op == Op::And && condition->width == 1)
    return std::max(heldBefore(condition->operands[0], counter), heldBefore(condition->operands[1], counter));
  if (condition->op != Op::Slt && condition->op != Op::Sle && condition->op != Op::Ult &&
      condition->op != Op::Ule)
    return Held::Perhaps;
  const bool isUnsigned = condition->op == Op::Ult || condition->op == Op::Ule;
  Courses courses(counter, isUnsigned);
  if (isUnsigned && passesZero(courses, condition->operands[0], condition->operands[1], counter))
    return Held::Perhaps;
  switch (sum(courses.of(condition->operands[0]), turned(courses.of(condition->operands[1]))).way) {
  case Way::Still:
  case Way::Up: return Held::Before;
  case Way::Down:
  case Way::One: return Held::SinceFirst;
  case Way::Any: return Held::Perhaps;
  }
  return Held::Perhaps;
}

} // namespace kcheck::analyzer
