#include "analyzer/model/made_barriers/made_barriers.h"

#include "analyzer/model/learning.h"
#include "analyzer/model/made_barriers/protocol.h"
#include "analyzer/model/made_barriers/turns.h"
#include "analyzer/model/parameters.h"
#include "analyzer/model/prepare/written_out.h"
#include "analyzer/model/relevance.h"
#include "analyzer/model/uniformity.h"
#include "report/assumptions.h"

#include "llvm/IR/InstIterator.h"

#include <fmt/format.h>

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// All meetings that go by the same words.
using Company = std::vector<Protocol>;

class MadeBarriers {
public:
  MadeBarriers(KernelState& state, Execution& run) : state(state), run(run), sums(state) {}

  void find() {
    meetings = findMeetings(state.function, state.dominators, state.loopInfo);
    std::map<std::pair<WordPlace, std::optional<WordPlace>>, Company> companies;
    for (Meeting& meeting : meetings)
      if (settleMeeting(state, run, meeting))
        if (auto protocol = protocolOf(state, sums, meeting))
          companies[{meeting.counter, protocol->released}].push_back(*protocol);
    for (auto& [words, company] : companies)
      if (isAlone(company) && goesOn(company)) take(company);
  }

  std::set<const Instruction*> ends, parts;
  std::vector<std::string> assumptions;

private:
  /// Whether nothing else is done to their words.
  bool isAlone(const Company& company) {
    std::vector<WordPlace> words{company.front().meeting->counter};
    if (company.front().released) words.push_back(*company.front().released);
    std::set<const Instruction*> own;
    for (const Protocol& protocol : company)
      for (const auto& [instruction, place] : protocol.meeting->places) own.insert(instruction);
    if (state.isUnknownWritten()) return false;
    return std::none_of(run.accesses.begin(), run.accesses.end(), [&](const RunAccess& access) {
      if (own.count(access.instruction)) return false;
      const ModelAccess& a = access.access;
      return std::any_of(words.begin(), words.end(), [&](const WordPlace& word) {
        if (a.object != word.object) return false;
        return !isConst(a.offset) || !isConst(a.size) ||
               word.meets({a.object, a.offset->value, a.size->value});
      });
    });
  }

  /// Whether what they carry from one to the next is what each has to wait for.
  bool goesOn(const Company& company) {
    std::vector<Turn> turns;
    bool carries = false;
    for (const Protocol& protocol : company) {
      carries = carries || protocol.goal;
      turns.push_back(
          {protocol.meeting->from, protocol.meeting->to, protocol.goalUsed, protocol.goal.value_or(Sum())});
    }
    if (!carries) return true;
    if (std::any_of(company.begin(), company.end(), [](const Protocol& p) { return !p.goal; })) return false;
    Turns go(state.function, sums, std::move(turns));
    const bool isCounted = !company.front().released;
    const Sum step = isCounted ? sums.blocks() : Sum(1);
    const auto grows = [&](const Sum& before, const Sum& now) {
      return now == before.plus(step) && now.inverted.empty() && before.inverted.empty();
    };
    if (go.go(step, grows)) return true;
    // A second word that is 0 and 1 by turns: there it is no matter what lies beyond.
    const bool mayTurn = !isCounted && std::all_of(company.begin(), company.end(), [](const Protocol& p) {
      return p.isEqual && p.setsToGoal;
    });
    return mayTurn && go.go(Sum(1), turnsOver);
  }

  static bool turnsOver(const Sum& before, const Sum& now) {
    if (!(now == Sum(1).plus(before, -1))) return false;
    const SumAtom atom = before.onlyAtom();
    const auto isBit = [&](SumAtom inverted) { return inverted == atom; };
    return (atom || before.isConstant()) && std::all_of(now.inverted.begin(), now.inverted.end(), isBit) &&
           std::all_of(before.inverted.begin(), before.inverted.end(), isBit);
  }

  void take(const Company& company) {
    for (const Protocol& protocol : company) {
      ends.insert(protocol.meeting->to->getFirstNonPHIOrDbg());
      for (const auto& [instruction, place] : protocol.meeting->places) parts.insert(instruction);
    }
    const std::string counter =
        fmt::format("{} at {}", kCounter, state.lineText(*company.front().meeting->arrival));
    assumptions.push_back(counter + " is 0 when the kernel starts");
    if (!company.front().released) assumptions.push_back(counter + " stays below 2^30");
    if (company.front().goal && company.front().released)
      assumptions.push_back(fmt::format("{} `{}` is 0 when the kernel starts", kFlag,
                                        state.objects[company.front().released->object].name));
  }

  KernelState& state;
  Execution& run;
  Sums sums;
  std::vector<Meeting> meetings;
};

} // namespace

std::optional<KernelCode> withMadeBarriers(const PreparedModule& prepared, const KernelCode& code,
                                           const Facts& facts, const LaunchCase& launch) {
  ExprContext scratch;
  KernelState state(scratch, prepared, code, facts, launch);
  if (findMeetings(state.function, state.dominators, state.loopInfo).empty()) return {};
  setUpShape(state);
  findRelevant(state);
  prime(state, learnAbout(prepared, code, facts, launch));
  state.knowsWritten = true;
  state.setCut(Cut::Block);
  Execution run(state, 0, false);
  run.fromEntry();
  settleUniformity(state);
  MadeBarriers made(state, run);
  made.find();
  if (made.ends.empty()) return {};
  KernelCode result = code;
  result.function = copyOf(*code.function);
  for (auto&& [from, to] : zip_equal(instructions(*code.function), instructions(*result.function))) {
    const auto mark = [&](const char* kind) { to.setMetadata(kind, MDNode::get(to.getContext(), {})); };
    if (made.ends.count(&from)) mark(kMadeBarrier);
    if (made.parts.count(&from)) mark(kPartOfBarrier);
  }
  result.assumptions = made.assumptions;
  return result;
}

} // namespace kcheck::analyzer
