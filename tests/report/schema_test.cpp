// What the JSON writer writes is what docs/report.schema.json promises, and the schema knows every rule.
#include "json_schema.h"
#include "report/rules.h"
#include "samples.h"

#include <gmock/gmock.h>

#include <fstream>

namespace kcheck::test {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json schema() {
  std::ifstream in(KCHECK_SOURCE_DIR "/docs/report.schema.json");
  return Json::parse(in);
}

Json written(const Sample& sample) { return Json::parse(sample.json()); }

TEST(Schema, HoldsForWhatTheWriterWrites) {
  SchemaValidator validator(schema());
  EXPECT_THAT(validator.problems(written(counterSample())), IsEmpty());
  EXPECT_THAT(validator.problems(written(mixedSample())), IsEmpty());
  EXPECT_THAT(validator.problems(written(cleanSample())), IsEmpty());
  EXPECT_THAT(validator.problems(written({})), IsEmpty()); // nothing ran
}

TEST(Schema, CatchesWhatIsNotPromised) {
  SchemaValidator validator(schema());
  Json json = written(counterSample());
  json["findings"][0].erase("count");
  EXPECT_THAT(validator.problems(json), ElementsAre(HasSubstr("/findings/0: lacks count")));
  json = written(counterSample());
  json["findings"][0]["rule"] = "race-everything";
  EXPECT_THAT(validator.problems(json), ElementsAre(HasSubstr("is not listed")));
  json = written(counterSample());
  json["surprise"] = 1;
  json["metrics"][0]["efficiency"] = 101;
  json["kernels"][0]["launches"][0]["grid"] = {1, 2};
  EXPECT_THAT(validator.problems(json), testing::SizeIs(3));
}

TEST(Schema, ListsTheRulesOfTheTable) {
  std::vector<std::string> ids;
  for (const Rule& rule : allRules()) ids.push_back(rule.id);
  EXPECT_EQ(schema()
                .at("$defs")
                .at("finding")
                .at("properties")
                .at("rule")
                .at("enum")
                .get<std::vector<std::string>>(),
            ids);
}

TEST(Json, BrokenUtf8InSourceTextDoesNoHarm) {
  Sample sample = counterSample();
  sample.report.findings[0].accesses[0].expr = "c[\xFF]";
  EXPECT_EQ(written(sample)["findings"][0]["accesses"][0]["expr"], "c[\xEF\xBF\xBD]");
}

TEST(Json, EfficiencyIsCappedAndRounded) {
  Sample sample = counterSample();
  sample.report.metrics[0].sectors = 3;
  sample.report.metrics[0].bytesRequested = 32;
  EXPECT_EQ(written(sample)["metrics"][0]["efficiency"].get<double>(), 33.33);
  EXPECT_EQ(written(sample)["metrics"][1]["efficiency"].get<double>(), 100);
}

} // namespace
} // namespace kcheck::test
