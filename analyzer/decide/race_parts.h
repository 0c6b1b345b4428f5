// The parts of the check for races: which accesses are asked about (race_check.cpp), whether two of them meet
// (race_questions.cpp), and what is told where they do (race_accounts.cpp).
#pragma once

#include "analyzer/decide/checks.h"
#include "analyzer/decide/variants.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace kcheck::analyzer {

struct RaceItem {
  const ModelAccess* access;
  const Phase* phase;
};

/// "line 12 against line 15"
std::string pairName(const RaceItem& a, const RaceItem& b);

/// Makes a race of two accesses that meet, with the plainest witness that there is.
class RaceAccounts {
public:
  RaceAccounts(const Check& check, PropertyAnswer& answer, AccessVariants& variants)
      : c(check), answer(answer), variants(variants) {}
  void tell(const RaceItem& a, const RaceItem& b, Relation relation, const Verdict& verdict);

private:
  void finish(RaceResult& race, const RaceItem& a, const RaceItem& b, Relation relation);
  void takeFirstRounds(const RaceItem& a, const RaceItem& b, Relation relation, Verdict& verdict);
  bool takeWider(RaceResult& race, const RaceItem& a, const RaceItem& b);
  void takeOrdered(RaceResult& race, const RaceItem& a, const RaceItem& b, Relation relation);
  bool writesSameValue(const RaceItem& a, const RaceItem& b, Relation relation, Verdict& best,
                       std::optional<Cause>& shuffled, std::optional<Cause>& open);
  std::optional<unsigned> heldBy(Promise promise, const RaceItem& a, const RaceItem& b, Relation relation);
  void askForPromises(RaceResult& race, const RaceItem& a, const RaceItem& b, Relation relation);
  bool askForRows(RaceResult& race, const RaceItem& a, const RaceItem& b, Relation relation);

  Check c;
  PropertyAnswer& answer;
  AccessVariants& variants;
};

/// Asks about pairs of accesses, of pairs that are alike once.
class RaceQuestions {
public:
  RaceQuestions(const Check& check, PropertyAnswer& answer)
      : c(check), answer(answer), variants(check.decider, check.model), accounts(check, answer, variants) {}
  void ask(const RaceItem& a, const RaceItem& b, Relation relation);

private:
  using Key = std::tuple<Expr, Expr, Expr, Expr, Expr, Expr, Relation, bool, unsigned, bool>;
  using Sites = std::tuple<SiteId, SiteId, bool, unsigned>;
  Key keyOf(const RaceItem& a, const RaceItem& b, Relation relation) const;
  Verdict meet(const RaceItem& a, const RaceItem& b, Relation relation);
  const Verdict& verdictOf(const RaceItem& a, const RaceItem& b, Relation relation);
  bool hasShownEnough(const Sites& sites, Relation& relation);
  bool takeAligned(RaceItem& a, RaceItem& b);
  void assumeAligned(const RaceItem& a, const RaceItem& b);
  void takeCommonOne(const RaceItem& a, const RaceItem& b, Relation relation, Verdict& verdict);
  void assumeFlags(const ModelAccess& a, const ModelAccess& b);
  void assumeNoWrap(const ModelAccess& a, const ModelAccess& b);

  Check c;
  PropertyAnswer& answer;
  AccessVariants variants;
  RaceAccounts accounts;
  std::map<Key, Verdict> cache;
  std::map<Sites, unsigned> found;
  /// Of those found within a warp alone: how often a wider one is yet looked for.
  std::map<Sites, unsigned> widerToAsk;
  std::set<Sites> askedWider; ///< once, of what is no more than possible or writes the same value
};

} // namespace kcheck::analyzer
