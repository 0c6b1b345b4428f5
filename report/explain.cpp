// --explain=RULE: the rule's page, from the built-in copy.
#include "report/pages.h"
#include "report/rules.h"

namespace kcheck {

std::string_view explainRule(std::string_view id) {
  for (const RulePage& page : rulePages())
    if (id == page.id) return page.text;
  return {};
}

} // namespace kcheck
