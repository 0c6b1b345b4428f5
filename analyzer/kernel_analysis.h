// The questions about one kernel, and from the answers its results.
#pragma once

#include "analyzer/analyzer.h"
#include "analyzer/decide/races.h"
#include "analyzer/larger_launches.h"
#include "analyzer/launches.h"
#include "analyzer/properties.h"
#include "analyzer/traffic/advice.h"

#include <deque>

namespace kcheck::analyzer {

/// One kernel under one launch case, with what is asked of it and what came out.
struct Question {
  const PlannedCase* planned = nullptr;   ///< null: any launch
  const PlannedCase* condition = nullptr; ///< or any that fulfils this
  const KernelCode* code = nullptr;       ///< of a kernel that is written out for it
  bool hasMadeBarriers = false;           ///< it is one with barriers of the grid of its own making
  bool isAsked = true;                    ///< else only the model is wanted
  double seconds = 0;
  unsigned milliseconds = 0;
  ExprContext exprs;
  KernelModel model;
  KernelAnswers answers;
  std::optional<LaunchTraffic> traffic; ///< of known launches
  bool lanesMayPart = false;
};

/// Models are made one after the other (LLVM's contexts are not for several threads); the questions of
/// several kernels are then answered side by side.
class KernelAnalysis {
public:
  KernelAnalysis(const PreparedModule& prepared, const KernelCode& code, const Facts& facts, Options options);

  /// Where it is open whether threads race: the kernel with the barriers of the grid that it makes itself.
  std::vector<Question*> tryMadeBarriers(const PreparedModule& prepared);
  /// Where a known launch leaves open whether threads race: the kernel with its loops written out for it.
  std::vector<Question*> tryWrittenOut(const PreparedModule& prepared);
  /// Where something is proved for the known launches but not for any: the next condition to try. Null when
  /// there is none.
  Question* tryCondition(const PreparedModule& prepared);
  /// Where no race is found in the launches that are known, or chosen: others, which share the work out over
  /// more threads or are of another shape.
  std::vector<Question*> tryOthers(const PreparedModule& prepared);

  /// Where something goes wrong in the launch of kcheck's own choice, and no program shows another: launches
  /// that the kernel may be meant for.
  std::vector<Question*> tryOtherChoices(const PreparedModule& prepared);

  void finish(Analysis& analysis, Coverage& coverage);

  std::deque<Question> questions; ///< never moved: models refer to their expressions; none: left to the run
  std::set<SiteId> sites, safe;

private:
  /// The question about the written out kernel, where that says more of whether threads race.
  Question& settledBy(Question& question);
  /// For blocks of more than one shape.
  bool isProvedForShapes(Property property) const;
  /// Races or barriers are proved for the known launches and not for any.
  bool isOpenForAny() const;
  bool isSettled(const Question& question) const;
  /// A kernel of Thrust or CUB without a line of the user's: its launches are the library's own.
  bool isLibraryCode() const;
  void askAboutKnown(const PreparedModule& prepared);
  // kernel_results.cpp
  void leaveToTheRun(Analysis& analysis) const;
  /// Launches that nobody asked about: what is proved of the others says nothing of them.
  void openLeftOut(std::vector<PropertyResult>& properties) const;
  /// The program launches the kernel in a way that the source does not show, or not at all: what happens in a
  /// launch of kcheck's own choice need never happen.
  void doubtInvented(std::vector<PropertyResult>& properties, Analysis& analysis) const;
  /// Nothing goes wrong in another launch that is as good a choice.
  void doubtChoice(std::vector<PropertyResult>& properties, Analysis& analysis) const;
  void doubtWhere(const std::string& lean, const std::string& why, std::vector<PropertyResult>& properties,
                  Analysis& analysis) const;
  /// Of indices few enough that floats hold them all, which those of larger launches need not be.
  void nameExactFloats(std::vector<PropertyResult>& properties) const;
  void tellOthers(std::vector<PropertyResult>& properties, Analysis& analysis);
  /// Threads race in another launch, or may: no proof for that of kcheck's own choice alone says that they do
  /// not.
  void openWhereChosen(std::vector<PropertyResult>& properties, const KernelAnswers& answers,
                       const LargerLaunch& other) const;
  /// Where threads write the same without order, and all else is proved.
  void tellOnlySameValue(std::vector<PropertyResult>& properties) const;
  void finishTraffic(Analysis& analysis, Coverage& coverage);
  void dropWhereBroken(Question& question) const;
  PropertyResult initializedIn(Question& question) const;
  CaseAnswers answersOf(Question& question, Analysis& analysis);
  /// Safe in every launch of the program: in any launch, or in each of those that are known. Proofs that rest
  /// on assumptions do not count: a run could see them broken. Nor do those that leave out axes which a
  /// launch may have.
  void collectSafeSites(const CaseAnswers& any, const std::vector<CaseAnswers>& cases);

  const KernelCode& code;
  const Options options; ///< with the kernel's own share of the time
  const Facts& facts;
  LaunchPlan plan;
  std::vector<PlannedCase> conditions; ///< to try, and those that have been
  std::deque<Question> tried;
  std::deque<KernelCode> copiedCode;
  std::deque<Question> copies; ///< written out, or with barriers of its own making
  std::vector<PlannedCase> otherChosen;
  std::deque<Question> chosenQuestions;
  std::vector<LargerLaunch> others;
  std::deque<Question> otherQuestions;
};

} // namespace kcheck::analyzer
