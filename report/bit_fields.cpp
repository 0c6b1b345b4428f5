#include "report/bit_fields.h"

#include "report/rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace kcheck {
namespace {

const Site* bitField(const Access& access, const Facts& facts) {
  if (access.site >= facts.sites.size()) return nullptr;
  const Site& site = facts.sites[access.site];
  return site.isBitField ? &site : nullptr;
}

/// `age` of `cells[i].age`.
std::string_view member(std::string_view expr) {
  const std::size_t at = expr.find_last_of(".>");
  return at == expr.npos ? expr : expr.substr(at + 1);
}

/// Whether what is done there writes the bit-field: the read of a word that is written back does.
bool isWritten(const Access& access, const Site& field, const Facts& facts) {
  return access.kind != AccessKind::Read || std::ranges::any_of(facts.sites, [&](const Site& site) {
           return site.kind == AccessKind::Write && site.where == field.where && site.expr == field.expr;
         });
}

} // namespace

void wordBitFields(std::vector<Finding>& findings, const Facts& facts) {
  for (Finding& finding : findings) {
    const Rule* rule = findRule(finding.rule);
    if (!rule || rule->group != RuleGroup::Race || finding.scope == RaceScope::Host ||
        finding.accesses.size() != 2)
      continue;
    const Site* first = bitField(finding.accesses[0], facts);
    const Site* second = bitField(finding.accesses[1], facts);
    if (!first || !second || member(first->expr) == member(second->expr)) continue;
    finding.message =
        isWritten(finding.accesses[1], *second, facts)
            ? fmt::format(
                  "threads write `{}` and `{}`, which are bit-fields of one word, without ordering, so "
                  "one write can undo the other",
                  first->expr, second->expr)
            : fmt::format(
                  "a thread writes `{}` while another reads `{}`, which is a bit-field of the same word",
                  first->expr, second->expr);
    finding.hint =
        "a write of a bit-field writes the bits beside it, too: members that are no bit-fields, or "
        "atomics on the whole word (atomicAnd, atomicOr, atomicCAS)";
  }
}

} // namespace kcheck
