// What is open after the questions about any launch and about those that the source shows, asked again about
// the launches of a run. Few launches are taken as they were; many as one whose integers may have any value
// that they had.
#include "analyzer/analyzer.h"
#include "analyzer/broken_signs.h"
#include "analyzer/kernel_model.h"
#include "analyzer/launch_groups.h"
#include "analyzer/launches.h"
#include "report/assumptions.h"
#include "report/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace kcheck::analyzer {
namespace {

constexpr std::array kAsked{Property::RaceFree, Property::BarriersUniform, Property::InBounds};

/// Of a kernel's time, where the run has told races of it.
constexpr double kShareOfRacy = 0.2;

bool hasRace(const Kernel& kernel, const std::vector<Finding>& findings) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    const Rule* rule = findRule(finding.rule);
    return finding.kernel == kernel.name && finding.severity == Severity::Error && rule &&
           rule->group == RuleGroup::Race;
  });
}

enum class Overlap : std::uint8_t { None, Possible, Sure };

/// Two of the launch's pointers lead to the same allocation, or even to the same place in it.
Overlap overlapOf(const Launch& launch) {
  std::set<std::size_t> allocations;
  std::set<std::pair<std::size_t, std::int64_t>> places;
  Overlap result = Overlap::None;
  for (const Argument& argument : launch.arguments)
    for (const PassedValue::Pointer& pointer : argument.passed->pointers) {
      if (!allocations.insert(pointer.allocation).second) result = std::max(result, Overlap::Possible);
      if (!places.insert({pointer.allocation, pointer.byteOffset}).second) result = Overlap::Sure;
    }
  return result;
}

Overlap overlapOf(const std::vector<Launch>& launches) {
  Overlap result = Overlap::None;
  for (const Launch& launch : launches) result = std::max(result, overlapOf(launch));
  return result;
}

/// The proof rests on arrays that do not overlap.
bool keepsArraysApart(const PropertyResult& property) {
  return std::ranges::any_of(property.assumptions, [](const std::string& assumption) {
    return assumption == kPointersApart || assumption.ends_with(kReachedApart);
  });
}

bool isOpen(const PropertyResult& property, Overlap overlap) {
  if (std::ranges::find(kAsked, property.property) == kAsked.end()) return false;
  return property.answer == Answer::Unknown ||
         (property.answer == Answer::Proved && overlap != Overlap::None && keepsArraysApart(property));
}

/// What launches must have in common to be told apart by their integers alone: everything that is no integer.
struct Form {
  Dim3 block;
  std::uint64_t sharedBytes = 0;
  /// Per pointer: where it stands, which of the launch's allocations it leads to, and that one's size.
  std::vector<std::array<std::uint64_t, 4>> pointers;
  friend auto operator<=>(const Form&, const Form&) = default;
};

Form formOf(const Launch& launch, const std::vector<Allocation>& allocations) {
  Form form;
  form.block = launch.block.whole().value_or(Dim3{});
  form.sharedBytes = launch.sharedBytes.value_or(0);
  std::map<std::size_t, std::size_t> numbers;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    for (const PassedValue::Pointer& pointer : launch.arguments[i].passed->pointers) {
      const auto number = numbers.try_emplace(pointer.allocation, numbers.size()).first->second;
      form.pointers.push_back({i, pointer.at, number, allocations[pointer.allocation].bytes.value_or(0)});
    }
  return form;
}

/// What an integer parameter was in the launches, or at which offset a pointer led into its allocation.
std::optional<PassedValue::Range> rangeOf(const std::vector<const Launch*>& launches, std::size_t number) {
  std::vector<std::optional<std::int64_t>> values;
  for (const Launch* launch : launches) {
    const Argument& argument = launch->arguments[number];
    values.push_back(argument.allocation ? argument.byteOffset
                                         : argument.passed->integer(0, argument.passed->bytes.size()));
  }
  return analyzer::rangeOf(values);
}

/// One launch that stands for all of a form: what differs among them is any of what it was.
Launch joined(const std::vector<const Launch*>& launches) {
  Launch one = *launches.front();
  one.isJoined = true;
  for (const Launch* other : launches)
    for (auto axis : {&Extent::x, &Extent::y, &Extent::z})
      if (other->grid.*axis != launches.front()->grid.*axis) (one.grid.*axis).reset();
  for (std::size_t i = 0; i < one.arguments.size(); ++i) {
    Argument& argument = one.arguments[i];
    PassedValue& passed = *argument.passed;
    bool differs = false;
    for (const Launch* other : launches) {
      const PassedValue& theirs = *other->arguments[i].passed;
      for (std::size_t at = 0; at < passed.bytes.size(); ++at)
        if (theirs.bytes[at] != passed.bytes[at]) passed.bytes[at].reset(), differs = true;
      differs |= argument.byteOffset != other->arguments[i].byteOffset;
    }
    if (!differs || (!argument.allocation && !passed.pointers.empty())) continue;
    passed.range = rangeOf(launches, i);
    argument.byteOffset.reset();
  }
  return one;
}

/// Pointers in structures that lead to other places of their allocations in other launches are not joined.
bool canJoin(const std::vector<const Launch*>& launches) {
  return std::ranges::all_of(launches, [&](const Launch* launch) {
    for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
      const auto &mine = launch->arguments[i], &first = launches.front()->arguments[i];
      if (mine.allocation) continue;
      for (std::size_t p = 0; p < mine.passed->pointers.size(); ++p)
        if (mine.passed->pointers[p].byteOffset != first.passed->pointers[p].byteOffset) return false;
    }
    return true;
  });
}

/// Every pointer parameter leads to an allocation, or nowhere.
bool isFollowed(const Launch& launch, const Kernel& kernel) {
  if (launch.arguments.size() != kernel.parameters.size()) return false;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    if (!argument.passed) return false;
    if (kernel.parameters[i].isPointer && !argument.allocation && argument.passed->integer(0, 8) != 0)
      return false;
  }
  return true;
}

/// The launches to ask about, which together stand for all that the run made; none where they are too many,
/// or not known.
std::vector<Launch> launchesOf(const Kernel& kernel, const SeenLaunches& seen) {
  constexpr std::size_t kFew = 4;
  if (seen.incomplete.contains(kernel.symbol)) return {};
  std::vector<const Launch*> all;
  for (const Launch& launch : seen.launches)
    if (launch.kernel == kernel.symbol) all.push_back(&launch);
  if (!std::ranges::all_of(all, [&](const Launch* launch) { return isFollowed(*launch, kernel); })) return {};
  std::vector<Launch> result;
  if (all.size() <= kFew) {
    for (const Launch* launch : all) result.push_back(*launch);
    return result;
  }
  std::map<Form, std::vector<const Launch*>> forms;
  for (const Launch* launch : all) forms[formOf(*launch, seen.allocations)].push_back(launch);
  if (forms.size() > kMostLaunches) return {};
  for (const auto& [form, launches] : forms) {
    if (!canJoin(launches)) return {};
    result.push_back(joined(launches));
  }
  return result;
}

bool isSure(const Finding& finding) {
  return finding.verdict == Verdict::Proved && finding.severity == Severity::Error;
}

/// Errors of which the first analysis knew less.
void takeErrors(Analysis& analysis, Analysis& settled) {
  for (Finding& finding : settled.findings) {
    if (!isSure(finding)) continue;
    const auto isSame = [&](const Finding& other) {
      return other.rule == finding.rule && other.kernel == finding.kernel && other.where == finding.where;
    };
    if (std::ranges::any_of(analysis.findings,
                            [&](const Finding& other) { return isSame(other) && isSure(other); }))
      continue;
    std::erase_if(analysis.findings, isSame);
    analysis.findings.push_back(std::move(finding));
  }
}

/// What was open and is proved now; and a proof that rests on arrays which do overlap goes.
void takeAnswers(KernelResult& kernel, const KernelResult& settled, Overlap overlap) {
  for (PropertyResult& property : kernel.properties) {
    if (!isOpen(property, overlap)) continue;
    const auto again = std::ranges::find(settled.properties, property.property, &PropertyResult::property);
    if (again == settled.properties.end()) continue;
    const bool isProved = again->answer == Answer::Proved;
    if (property.answer == Answer::Proved && overlap != Overlap::Sure && again->answer != Answer::Refuted)
      continue; // apart, for all that is known
    if (property.answer == Answer::Proved || isProved) {
      property = *again;
      if (isProved) property.holdsFor = kLaunchesOfThisRun;
    } else if (again->answer == Answer::Unknown && !again->reason.empty()) {
      property.reason = again->reason; // it knows more
    }
  }
}

/// A proof for sizes that are not negative says nothing of a run with one that is.
void withdrawBrokenSigns(KernelResult& result, const Kernel& kernel, const SeenLaunches& seen) {
  for (PropertyResult& property : result.properties) {
    if (property.answer != Answer::Proved) continue;
    const auto broken = brokenSign(property, kernel, seen.launches);
    if (!broken) continue;
    property.answer = Answer::Unknown;
    property.reason =
        fmt::format("the proof assumes that {}, and the run passed {}", broken->assumption, broken->passed);
    property.holdsFor.clear();
    property.assumptions.clear();
  }
}

} // namespace

void settle(Analysis& analysis, const llvm::Module& device, const Facts& facts, const SeenLaunches& seen,
            const std::vector<Finding>& toldByRun, const Options& options) {
  for (KernelResult& result : analysis.kernels)
    if (const Kernel* kernel = facts.kernel(result.symbol)) withdrawBrokenSigns(result, *kernel, seen);
  if (options.block || options.grid) return;
  Facts known = facts;
  known.launches.clear();
  known.allocations = seen.allocations;
  Options asking = options;
  asking.kernels.clear();
  asking.anyLaunch = false;
  std::vector<std::string> racy;
  std::map<std::string, Overlap> overlaps; // of the kernels to ask about, by symbol
  for (const KernelResult& result : analysis.kernels) {
    const Kernel* kernel = facts.kernel(result.symbol);
    if (!kernel) continue;
    std::vector<Launch> launches = launchesOf(*kernel, seen);
    const Overlap overlap = overlapOf(launches);
    if (launches.empty() || std::ranges::none_of(result.properties, [&](const PropertyResult& property) {
          return isOpen(property, overlap);
        }))
      continue;
    overlaps[kernel->symbol] = overlap;
    (hasRace(*kernel, toldByRun) ? racy : asking.kernels).push_back(kernel->symbol);
    known.launches.insert(known.launches.end(), launches.begin(), launches.end());
  }
  const auto ask = [&] {
    if (asking.kernels.empty()) return;
    Analysis settled = analyze(device, known, asking);
    for (KernelResult& kernel : analysis.kernels)
      for (const KernelResult& again : settled.kernels)
        if (again.symbol == kernel.symbol) takeAnswers(kernel, again, overlaps[kernel.symbol]);
    takeErrors(analysis, settled);
  };
  ask();
  asking.kernels = racy;
  asking.kernelSeconds *= kShareOfRacy;
  ask();
}

} // namespace kcheck::analyzer
