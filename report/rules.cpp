// The table of rules, and the reading of `--checks=LIST`.
#include "report/rules.h"

#include "report/nearest.h"

#include <algorithm>
#include <fmt/format.h>

namespace kcheck {

namespace {

using enum RuleGroup;
constexpr Severity kError = Severity::Error, kWarning = Severity::Warning, kNote = Severity::Note;

constexpr Rule kRules[] = {
    {"race-shared", "Data race in shared memory", Race, kError,
     "threads of a block access the same shared memory without a barrier between, and one of them writes"},
    {"race-global", "Data race in global memory", Race, kError,
     "threads access the same global memory without ordering, and one of them writes"},
    {"race-warp", "Data race within a warp", Race, kError,
     "lanes of one warp rely on running in step where only __syncwarp orders them"},
    {"race-scope", "Atomic or fence of too narrow a scope", Race, kError,
     "an atomic, fence or lock orders fewer threads than those that share the memory"},
    {"race-host", "Race with the host or another stream", Race, kError,
     "the host, a copy or another stream accesses memory that a kernel or copy still uses"},

    {"barrier-divergence", "Barrier that some threads miss", Sync, kError,
     "some threads of a block reach a barrier that others skip, or wait at another one"},
    {"warp-mask", "Wrong mask of a warp collective", Sync, kError,
     "the mask of a warp collective names lanes that do not take part, or leaves out the caller"},
    {"hang", "The program makes no progress", Sync, kError,
     "threads wait for something that no thread will do"},
    {"assert-failed", "Failing assertion", Sync, kError,
     "an assert(), a __builtin_assume() or an annotation in a kernel does not hold"},
    {"trap", "Kernel ended by a trap", Sync, kError,
     "a thread executes __trap(), which ends the kernel and its results"},

    {"out-of-bounds", "Access outside an array", Memory, kError,
     "an access begins before, or ends after, the memory that it belongs to"},
    {"misaligned", "Misaligned access", Memory, kError,
     "an access is not at a multiple of its size, which the hardware refuses"},
    {"use-after-free", "Access to freed memory", Memory, kError, "an access to memory that was freed before"},
    {"bad-free", "Wrong free", Memory, kError,
     "memory is freed twice, in the middle, or by a function that did not allocate it"},
    {"wrong-space", "Pointer of the wrong side", Memory, kError,
     "a kernel uses a host pointer, the host a device pointer, or a copy names the wrong direction"},
    {"leak", "Device memory never freed", Memory, kWarning,
     "an allocation is still there when the program ends"},
    {"invalid-launch", "Launch that cannot start", Memory, kError,
     "block, grid or shared memory exceed the device's limits, so the kernel never runs"},
    {"unchecked-error", "CUDA error that nobody looks at", Memory, kWarning,
     "a CUDA call or launch failed and the program never asked"},

    {"uninitialized-read", "Read of memory that nobody wrote", Init, kError,
     "a thread reads memory that was never written, so its value is whatever was there"},
    {"unwritten-output", "Output that nobody wrote", Init, kError,
     "device memory that was never written is copied to the host"},

    {"uncoalesced", "Uncoalesced global access", Perf, kNote,
     "the threads of a warp touch many more 32-byte sectors than their bytes need"},
    {"bank-conflict", "Shared-memory bank conflict", Perf, kNote,
     "lanes of a warp need different words of one bank, so the access is served in turns"},
    {"warp-divergence", "Divergent warp", Perf, kNote,
     "most lanes of a warp idle while the others run a branch"},
    {"atomic-contention", "Contended atomic", Perf, kNote,
     "many threads update one address atomically, so the updates queue up"},
    {"launch-shape", "Launch shape that wastes the device", Perf, kWarning,
     "the block is no multiple of 32, or the grid too small to use the device"},
    {"launch-coverage", "Launch that does not fit the data", Perf, kWarning,
     "the launch has fewer threads than there are elements, or far more"},

    {"redundant-transfer", "Transfer that is not needed", Host, kWarning,
     "data goes to the host and back, or is copied again unchanged, between kernels"},
    {"unsynchronized-timing", "Time taken before the kernel ends", Host, kWarning,
     "a host clock or event is read while the kernel still runs"},
    {"pageable-async", "Async copy from pageable memory", Host, kNote,
     "cudaMemcpyAsync with pageable host memory does not overlap with anything"},
    {"wide-arithmetic", "Double arithmetic in float code", Host, kNote,
     "a double literal or function widens float arithmetic, which is far slower on most devices"},
};
static_assert(std::size(kRules) <= RuleSet::kCapacity);

constexpr RuleGroup kGroups[] = {Race, Sync, Memory, Init, Perf, Host};

std::optional<RuleGroup> groupNamed(std::string_view name) {
  for (RuleGroup group : kGroups)
    if (name == toString(group)) return group;
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Error unknownName(const char* what, std::string_view name, const std::vector<std::string>& candidates) {
  if (auto nearest = nearestWord(name, candidates))
    return {fmt::format("there is no {} `{}`; did you mean `{}`?", what, name, *nearest)};
  return {fmt::format("there is no {} `{}`; --list-rules shows all", what, name)};
}

/// The rules that one word of a list stands for.
OrError<RuleSet> expandWord(std::string_view word) {
  if (word == "all") return RuleSet::all();
  RuleSet set;
  if (const Rule* rule = findRule(word)) {
    set.insert(*rule);
    return set;
  }
  if (auto group = groupNamed(word)) {
    for (const Rule& rule : kRules)
      if (rule.group == *group) set.insert(rule);
    return set;
  }
  std::vector<std::string> candidates{"all"};
  for (RuleGroup group : kGroups) candidates.push_back(toString(group));
  for (const Rule& rule : kRules) candidates.push_back(rule.id);
  return unknownName("rule or group", word, candidates);
}

} // namespace

const char* toString(RuleGroup group) {
  switch (group) {
  case Race: return "race";
  case Sync: return "sync";
  case Memory: return "memory";
  case Init: return "init";
  case Perf: return "perf";
  case Host: return "host";
  }
  return "?";
}

std::span<const Rule> allRules() { return kRules; }
std::span<const RuleGroup> allGroups() { return kGroups; }

const Rule* findRule(std::string_view id) {
  auto found = std::ranges::find(kRules, id, [](const Rule& rule) { return std::string_view(rule.id); });
  return found == std::end(kRules) ? nullptr : found;
}

OrError<const Rule*> ruleNamed(std::string_view id) {
  if (const Rule* rule = findRule(id)) return rule;
  std::vector<std::string> candidates;
  for (const Rule& rule : kRules) candidates.push_back(rule.id);
  return unknownName("rule", id, candidates);
}

RuleSet RuleSet::all() {
  RuleSet set;
  for (const Rule& rule : kRules) set.insert(rule);
  return set;
}

bool RuleSet::has(std::string_view id) const {
  const Rule* rule = findRule(id);
  return rule && has(*rule);
}

bool RuleSet::hasAny(RuleGroup group) const {
  return std::ranges::any_of(kRules, [&](const Rule& rule) { return rule.group == group && has(rule); });
}

std::size_t RuleSet::indexOf(const Rule& rule) {
  const Rule* known = findRule(rule.id); // a copy of a rule is as good as the rule
  assert(known && "a rule outside the table");
  return std::size_t(known - kRules);
}

OrError<RuleSet> parseRuleList(std::string_view list) {
  if (trimmed(list).empty())
    return Error{"the list of checks is empty; give rules or groups, for instance `race,memory`"};
  RuleSet result;
  for (bool first = true; !list.empty() || first; first = false) {
    std::size_t comma = list.find(',');
    std::string_view word = trimmed(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    bool leaveOut = word.starts_with('-');
    if (leaveOut) word.remove_prefix(1);
    if (word.empty()) return Error{"the list of checks has an empty entry"};
    auto named = expandWord(word);
    if (!named) return named.error();
    if (first && leaveOut) result = RuleSet::all();
    for (const Rule& rule : kRules) {
      if (!(*named).has(rule)) continue;
      leaveOut ? result.erase(rule) : result.insert(rule);
    }
  }
  if (result.empty()) return Error{"the list of checks leaves out every rule"};
  return result;
}

} // namespace kcheck
