// Races between bit-fields of one word.
#include "report/bit_fields.h"
#include "samples.h"

#include <gmock/gmock.h>

namespace kcheck::test {
namespace {

using testing::HasSubstr;

/// A thread writes one member, a read of the other is what its own write begins with, or stands alone.
class BitFields : public testing::Test {
protected:
  SiteId add(AccessKind kind, const std::string& expr, unsigned line) {
    Site site;
    site.id = SiteId(facts.sites.size());
    site.kind = kind;
    site.expr = expr;
    site.where = at("k.cu", line, 3, 9);
    site.isBitField = true;
    facts.sites.push_back(site);
    return site.id;
  }

  std::string wordOf(SiteId first, SiteId second) {
    Finding race;
    race.rule = "race-global";
    race.message = "as before";
    for (SiteId id : {first, second}) {
      Access access;
      access.kind = facts.sites[id].kind;
      access.site = id;
      access.expr = facts.sites[id].expr;
      race.accesses.push_back(access);
    }
    std::vector<Finding> findings{race};
    wordBitFields(findings, facts);
    return findings.front().message;
  }

  Facts facts;
};

TEST_F(BitFields, OfWhichBothAreWritten) {
  const SiteId kind = add(AccessKind::Write, "cell->kind", 5), age = add(AccessKind::Read, "cell->age", 6);
  add(AccessKind::Write, "cell->age", 6);
  EXPECT_THAT(wordOf(kind, age),
              HasSubstr("threads write `cell->kind` and `cell->age`, which are bit-fields"));
}

TEST_F(BitFields, OfWhichOneIsReadAlone) {
  const SiteId kind = add(AccessKind::Write, "cell->kind", 5), age = add(AccessKind::Read, "cell->age", 6);
  EXPECT_THAT(wordOf(kind, age),
              HasSubstr("another reads `cell->age`, which is a bit-field of the same word"));
}

TEST_F(BitFields, AreNotBlamedForARaceOfOneMember) {
  const SiteId first = add(AccessKind::Write, "cells[i].age", 5),
               second = add(AccessKind::Write, "cell->age", 6);
  EXPECT_EQ(wordOf(first, second), "as before");
}

TEST_F(BitFields, AreNotBlamedWhereNoneIs) {
  const SiteId kind = add(AccessKind::Write, "cell->kind", 5), age = add(AccessKind::Write, "cell->age", 6);
  facts.sites[age].isBitField = false;
  EXPECT_EQ(wordOf(kind, age), "as before");
}

} // namespace
} // namespace kcheck::test
