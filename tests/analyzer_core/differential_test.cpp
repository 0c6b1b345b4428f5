// Random small kernels against enumeration: all threads of a small launch, all counters and parameters, every
// byte. What is proved must have no race there, what is refuted must have one.
#include "kernel_builder.h"

#include "analyzer/expr/evaluate.h"

#include <cstdlib>
#include <random>
#include <set>

namespace kcheck::analyzer {
namespace {

using testing::Ix;
using testing::KernelBuilder;
using testing::launch;
using testing::property;
using testing::Shape;

constexpr Int kMostCounter = 2, kMostParameter = 4;

/// Makes the same kernel for one seed whatever the shape, so that a free launch can be held against fixed
/// ones.
class RandomKernel {
public:
  RandomKernel(KernelBuilder& k, unsigned seed) : k(k), random(seed) { build(); }

private:
  unsigned below(unsigned n) { return unsigned(random() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }

  Ix counter() {
    Ix c = k.counter("k", kMostCounter);
    return c;
  }
  Ix parameter() { return k.param("n", 0, kMostParameter); }

  Ix plainAtom() {
    switch (below(9)) {
    case 0:
    case 1:
    case 2: return k.tid(0);
    case 3: return k.tid(1);
    case 4: return k.bid(0);
    case 5: return k.gid(0);
    case 6: return k.tid(0) + k.tid(1) * k.dim(0);
    case 7: return counter();
    default: return parameter();
    }
  }

  Ix atom() {
    Ix x = plainAtom();
    if (chance(45)) return x;
    static const int divisors[] = {2, 3, 4, 5, 8, 10, 16, 32};
    int d = divisors[below(8)];
    switch (below(12)) {
    case 0: return x >> int(1 + below(5));
    case 1: return x & int((1u << (1 + below(5))) - 1);
    case 2: return x & int(below(64));
    case 3: return x % d;
    case 4: return x / d;
    case 5: return x ^ int(below(32));
    case 6: return (x + int(below(40))) % d;
    case 7: return (x + plainAtom()) & int((1u << (1 + below(6))) - 1);
    case 8: return k.of(k.context.ite((x < d).e, x.e, k.number(d).e));
    case 9: return x.umul(int(1 + below(40))).trunc(8).zext(32);
    case 10: return x.uadd(k.number(-int(below(4)))).trunc(8).sext(32);
    default: return x | int(1u << below(6));
    }
  }

  Ix coefficient(Ix term) {
    static const int factors[] = {1, 1, 1, 2, 3, 4, 5, 8, 16, 32, 33, 64};
    if (chance(10)) return term * k.dim(below(2));
    if (chance(8)) return term * parameter();
    if (chance(4)) return term * k.dim(0).umul(k.grid(0));
    return term * factors[below(12)];
  }

  Ix index() {
    Ix sum = coefficient(atom());
    for (unsigned n = below(3); n > 0; --n) sum = sum + coefficient(atom());
    if (chance(25)) sum = sum + (int(below(9)) - 2);
    return sum;
  }

  Ix guard() {
    Ix x = chance(70) ? atom() : index();
    static const int bounds[] = {0, 1, 2, 3, 4, 8, 16, 31, 32, 40};
    int b = bounds[below(10)];
    switch (below(7)) {
    case 0: return x < b;
    case 1: return x >= b;
    case 2: return x == b;
    case 3: return x < parameter();
    case 4: return (x & 1) == 0;
    case 5: return x != b;
    default: return x < k.dim(0);
    }
  }

  void access(unsigned object, Ix i, bool isWrite) {
    static const unsigned sizes[] = {4, 4, 4, 4, 1, 2, 8};
    ModelAccess& a = k.access(isWrite ? AccessKind::Write : AccessKind::Read, object, i, sizes[below(7)]);
    if (chance(8)) { // not aligned, wider than the step
      a.size = k.number(1 + below(12), 64).e;
      k.model.gridPhases.back().accesses.back().size = a.size;
    }
  }

  void build() {
    unsigned object = k.global("a");
    if (chance(50)) k.where(guard());
    Ix first = index();
    access(object, first, true);
    if (!chance(50)) return;
    if (chance(60)) k.where(guard());
    access(object, chance(40) ? first + int(below(5)) : index(), chance(40));
  }

  KernelBuilder& k;
  std::mt19937 random;
};

struct Truth {
  bool inBlock = false, betweenBlocks = false;
  bool any() const { return inBlock || betweenBlocks; }
};

/// Every access of every thread, byte by byte.
Truth enumerate(KernelBuilder& k) {
  struct Toucher {
    unsigned block, thread;
    bool isWrite;
    auto operator<=>(const Toucher&) const = default;
  };
  Truth truth;
  auto extent = [](const Expr(&axes)[3], int i) { return std::int64_t(axes[i]->value); };
  const Symbol* counter = k.context.symbol("k", 32, SymbolKind::LoopCounter, 0, kMostCounter);
  const Symbol* parameter = k.context.symbol("n", 32, SymbolKind::Parameter, 0, kMostParameter);
  for (std::int64_t n = 0; n <= std::int64_t(kMostParameter); ++n) {
    std::map<std::int64_t, std::set<Toucher>> bytes;
    Assignment values;
    values.symbols[parameter] = n;
    for (std::int64_t by = 0; by < extent(k.model.gridDim, 1); ++by)
      for (std::int64_t bx = 0; bx < extent(k.model.gridDim, 0); ++bx)
        for (std::int64_t ty = 0; ty < extent(k.model.blockDim, 1); ++ty)
          for (std::int64_t tx = 0; tx < extent(k.model.blockDim, 0); ++tx)
            for (std::int64_t c = 0; c <= std::int64_t(kMostCounter); ++c) {
              auto set = [&](Expr e, std::int64_t v) {
                if (e->op == Op::Symbol) values.symbols[e->symbol] = v;
              };
              set(k.model.threadIdx[0], tx);
              set(k.model.threadIdx[1], ty);
              set(k.model.blockIdx[0], bx);
              set(k.model.blockIdx[1], by);
              values.symbols[counter] = c;
              Evaluator evaluate(values);
              for (const ModelAccess& a : k.model.blockPhases[0].accesses) {
                Value condition = evaluate(a.condition);
                if (!condition.value || condition.undefined) continue;
                Value offset = evaluate(a.offset), size = evaluate(a.size);
                if (offset.undefined) continue;
                unsigned block = unsigned(by * 1000 + bx), thread = unsigned(ty * 1000 + tx);
                for (std::int64_t i = 0; i < size.value; ++i)
                  bytes[offset.value + i].insert({block, thread, a.kind == AccessKind::Write});
              }
            }
    for (auto& [byte, touchers] : bytes)
      for (const Toucher& x : touchers) {
        if (!x.isWrite) continue;
        for (const Toucher& y : touchers) {
          if (x.block != y.block) truth.betweenBlocks = true;
          if (x.block == y.block && x.thread != y.thread) truth.inBlock = true;
        }
      }
    if (truth.inBlock && truth.betweenBlocks) break;
  }
  return truth;
}

std::string show(KernelBuilder& k, unsigned seed) {
  std::string text = "seed " + std::to_string(seed);
  for (const ModelAccess& a : k.model.blockPhases[0].accesses)
    text += std::string("\n  ") + (a.kind == AccessKind::Write ? "write " : "read ") +
            toString(a.offset, 30) + " size " + toString(a.size) + " if " + toString(a.condition, 30);
  return text;
}

const Shape kShapes[] = {launch({2, 1, 1}, {32, 1, 1}), launch({3, 1, 1}, {8, 4, 1}),
                         launch({2, 2, 1}, {5, 3, 1}),  launch({1, 1, 1}, {40, 1, 1}),
                         launch({2, 1, 1}, {16, 2, 1}), launch({4, 1, 1}, {1, 1, 1})};

/// How many times the usual number of kernels; nightly runs set it, with other seeds each time.
unsigned scale() {
  const char* text = std::getenv("KCHECK_DIFFERENTIAL_SCALE");
  return text ? unsigned(std::max(1, std::atoi(text))) : 1;
}

struct Tally {
  unsigned proved = 0, refuted = 0, unknown = 0, provable = 0, racy = 0;
};

void checkFixed(unsigned seed, const Limits& limits, Tally& tally) {
  KernelBuilder k(kShapes[seed % std::size(kShapes)]);
  RandomKernel make(k, seed);
  KernelAnswers a = k.answers(limits);
  PropertyResult p = property(a, Property::RaceFree);
  Truth truth = enumerate(k);
  (truth.any() ? tally.racy : tally.provable) += 1;
  if (p.answer == Answer::Proved) {
    ++tally.proved;
    ASSERT_FALSE(truth.any()) << "wrongly proved: " << show(k, seed);
  } else if (p.answer == Answer::Refuted) {
    ++tally.refuted;
    ASSERT_TRUE(truth.any()) << "wrongly refuted: " << show(k, seed);
  } else {
    ++tally.unknown;
  }
  for (const RaceResult& r : a.races)
    ASSERT_TRUE(r.scope == RaceScope::InterBlock ? truth.betweenBlocks : truth.inBlock) << show(k, seed);
}

TEST(Differential, ArithmeticOnFixedLaunches) {
  Limits limits;
  limits.useSolver = false;
  Tally t;
  for (unsigned seed = 1; seed <= 1500 * scale(); ++seed) {
    checkFixed(seed, limits, t);
    if (::testing::Test::HasFatalFailure()) return;
  }
  std::printf("proved %u of %u, refuted %u of %u\n", t.proved, t.provable, t.refuted, t.racy);
  // Without the solver most questions are decided all the same.
  EXPECT_GT(t.proved, t.provable * 6 / 10) << t.proved << " of " << t.provable;
  EXPECT_GT(t.refuted, t.racy * 8 / 10) << t.refuted << " of " << t.racy;
}

TEST(Differential, SolverOnFixedLaunches) {
  Limits limits;
  limits.questionMilliseconds = 1500;
  Tally t;
  for (unsigned seed = 2000001; seed <= 2000000 + 120 * scale(); ++seed) {
    checkFixed(seed, limits, t);
    if (::testing::Test::HasFatalFailure()) return;
  }
  std::printf("proved %u of %u, refuted %u of %u\n", t.proved, t.provable, t.refuted, t.racy);
  EXPECT_GT(t.proved, t.provable * 9 / 10) << t.proved << " of " << t.provable;
  EXPECT_GT(t.refuted, t.racy * 9 / 10) << t.refuted << " of " << t.racy;
}

TEST(Differential, FreeLaunchesAgainstFixedOnes) {
  Limits limits;
  limits.useSolver = false;
  unsigned proved = 0, provable = 0;
  for (unsigned seed = 5000001; seed <= 5000000 + 700 * scale(); ++seed) {
    KernelBuilder open({{0, 0, 1}, {0, 1, 1}});
    RandomKernel make(open, seed);
    KernelAnswers a = open.answers(limits);
    PropertyResult p = property(a, Property::RaceFree);
    bool race = false;
    for (const Shape& shape :
         {launch({2, 1, 1}, {32, 1, 1}), launch({3, 1, 1}, {8, 4, 1}), launch({5, 1, 1}, {3, 2, 1}),
          launch({1, 1, 1}, {40, 2, 1}), launch({1, 1, 1}, {1, 4, 1})}) {
      KernelBuilder fixed(shape);
      RandomKernel same(fixed, seed);
      race |= enumerate(fixed).any();
    }
    provable += !race;
    if (p.answer != Answer::Proved) continue;
    ++proved;
    ASSERT_FALSE(race) << "wrongly proved for any launch: " << show(open, seed);
  }
  std::printf("proved %u of %u\n", proved, provable);
  EXPECT_GT(proved, provable / 4) << proved << " of " << provable;
}

} // namespace
} // namespace kcheck::analyzer
