// What the tests of race questions ask of a kernel built by hand.
#pragma once

#include "kernel_builder.h"

namespace kcheck::analyzer {

using testing::anyLaunch;
using testing::anyLaunch1D;
using testing::blocksOf;
using testing::Ix;
using testing::KernelBuilder;
using testing::launch;
using testing::property;

inline std::string summary(const KernelAnswers& a) {
  PropertyResult p = property(a, Property::RaceFree);
  std::string text = "races " + std::to_string(a.races.size()) + " reason: " + p.reason;
  for (const RaceResult& r : a.races) {
    auto thread = [](const WitnessThread& t) {
      return " thread " + std::to_string(t.thread.x) + "," + std::to_string(t.thread.y) + "," +
             std::to_string(t.thread.z) + " of block " + std::to_string(t.block.x) + "," +
             std::to_string(t.block.y);
    };
    text += "\n  line " + std::to_string(r.first->where.line) + " and " +
            std::to_string(r.second->where.line) + thread(r.witness.first) + thread(r.witness.second) +
            (r.sameValue ? " same value" : "");
    for (const Cause& cause : r.witness.causes) text += " leaning on " + cause.text;
  }
  for (const std::string& s : p.assumptions) text += "\n  assuming " + s;
  const Counters& c = a.counters;
  text += "\n  questions " + std::to_string(c.questions) + " arithmetic " + std::to_string(c.arithmetic) +
          " search " + std::to_string(c.search) + " integers " + std::to_string(c.integers) +
          " bit-vectors " + std::to_string(c.bitVectors) + " timeouts " + std::to_string(c.timeouts);
  return text;
}

/// How a proof may have been found.
enum class By { Arithmetic, Anything };

inline void expectProved(KernelBuilder& k, By by = By::Arithmetic) {
  KernelAnswers a = k.answers();
  EXPECT_EQ(property(a, Property::RaceFree).answer, Answer::Proved) << summary(a);
  if (by == By::Arithmetic) {
    EXPECT_EQ(a.counters.arithmetic, a.counters.questions) << summary(a);
  }
}

inline void expectNoAssumptions(KernelBuilder& k) {
  KernelAnswers a = k.answers();
  EXPECT_TRUE(property(a, Property::RaceFree).assumptions.empty()) << summary(a);
}

inline KernelAnswers expectRace(KernelBuilder& k) {
  KernelAnswers a = k.answers();
  EXPECT_EQ(property(a, Property::RaceFree).answer, Answer::Refuted) << summary(a);
  return a;
}

inline void expectPossible(KernelBuilder& k, const std::string& lean) {
  KernelAnswers a = k.answers();
  EXPECT_EQ(property(a, Property::RaceFree).answer, Answer::Unknown) << summary(a);
  EXPECT_NE(property(a, Property::RaceFree).reason.find(lean), std::string::npos) << summary(a);
}

/// `z[i] = x[i]`, one element for each thread.
inline void vectorAdd(KernelBuilder& k, bool guarded) {
  unsigned x = k.global("x"), z = k.global("z");
  if (guarded) k.where(k.gid() < k.param("n"));
  k.read(x, k.gid());
  k.write(z, k.gid());
}

} // namespace kcheck::analyzer
