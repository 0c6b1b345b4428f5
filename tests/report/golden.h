// Whole outputs compared with files in tests/report/golden. They change only on purpose:
//   KCHECK_UPDATE_GOLDEN=1 build/dev/tests/report_tests
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace kcheck::test {

inline void expectGolden(const std::string& name, const std::string& actual) {
  std::string path = KCHECK_SOURCE_DIR "/tests/report/golden/" + name;
  if (std::getenv("KCHECK_UPDATE_GOLDEN")) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << "no golden file " << name << "; make it with KCHECK_UPDATE_GOLDEN=1";
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(expected.str(), actual) << "golden/" << name
                                    << " differs; KCHECK_UPDATE_GOLDEN=1 accepts the new text";
}

} // namespace kcheck::test
