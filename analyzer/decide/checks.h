// The three families of questions about a kernel, each with its property's answer.
#pragma once

#include "analyzer/decide/question.h"

namespace kcheck::analyzer {

/// Collects what speaks for and against a property.
class PropertyAnswer {
public:
  explicit PropertyAnswer(Property property) { result.property = property; }
  void refute() { refuted = true; }
  void doubt(const std::string& reason);
  /// Of races that do no harm on any machine, but are such by the language.
  void doubtSameValue(const std::string& reason);
  void assume(const std::string& assumption);
  bool isRefuted() const { return refuted; }
  /// No proof any more, not even that all else is as it should be.
  bool isOpen() const { return refuted || !doubts.empty(); }
  PropertyResult finish();

private:
  PropertyResult result;
  bool refuted = false;
  std::vector<std::string> doubts, sameValues;
};

/// "line 12", or the file's name where the line is not known.
std::string lineOf(const Location& where);

struct Check {
  Decider& decider;
  const KernelModel& model;
  const Limits& limits;
  KernelAnswers& answers;
  std::set<SiteId>& unsafe; ///< sites with a question not answered in their favour
};

PropertyResult checkRaces(Check check);
PropertyResult checkBarriers(Check check);
/// What of it is only true where no threads race: a reason to leave it open, or nothing.
std::string barriersRestOn(const KernelModel& model);
PropertyResult checkBounds(Check check);
/// Of shared memory, in a block of known shape all of whose threads meet at each barrier.
PropertyResult checkFirstReads(Check check);

} // namespace kcheck::analyzer
