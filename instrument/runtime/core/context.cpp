#include "instrument/runtime/core/context.h"

#include "instrument/wire.h"

#include <charconv>
#include <cstdlib>

namespace kcheck::runtime {

RuntimeOptions parseOptions(std::string_view words) {
  RuntimeOptions options;
  while (!words.empty()) {
    std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    std::string_view name = word.substr(0, word.find('='));
    std::string_view value = name.size() < word.size() ? word.substr(name.size() + 1) : std::string_view();
    if (name == "schedule") {
      if (value == "lockstep") options.schedule = ScheduleKind::Lockstep;
      if (value == "random") options.schedule = ScheduleKind::Random;
    }
    if (name == "seed") std::from_chars(value.data(), value.data() + value.size(), options.seed);
    if (name == "jobs") std::from_chars(value.data(), value.data() + value.size(), options.jobs);
    if (name == "eager") options.eager = value != "0";
    if (name == "metrics") options.metrics = value != "0";
    if (name == "host-access") options.hostAccess = value != "0";
    if (name == "twice") options.twice = value != "0";
    if (name == "races") options.races = value != "0";
  }
  return options;
}

Context& context() {
  static Context* instance = [] {
    Context* made = new Context;
    if (const char* words = std::getenv(wire::kOptionsVariable)) made->options = parseOptions(words);
    return made;
  }();
  return *instance;
}

const abi::SiteInfo* Context::site(std::uint32_t number) const {
  if (modules.empty() || number >= modules.front()->siteCount) return nullptr;
  return &modules.front()->sites[number];
}

} // namespace kcheck::runtime
