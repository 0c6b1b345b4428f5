#include "batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace kcheck::expectations {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Batches : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return folder / name;
  }

  const fs::path folder = fs::temp_directory_path() / ("kcheck_batches_" + std::to_string(getpid()));
};

TEST_F(Batches, KeepArchitecturesApart) {
  const fs::path usual = write("a.cu", "int a;\n"), newer = write("b.cu", "// kcheck: --arch=sm_90\n");
  const std::vector<Batch> batches = batchesOf({usual, newer, usual});
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].files.size(), 2U);
  EXPECT_EQ(batches[1].architecture, "sm_90");
}

TEST_F(Batches, HoldSoManyFilesAndLoseNone) {
  const std::vector<Batch> batches = batchesOf(std::vector<fs::path>(50, write("a.cu", "int a;\n")));
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[0].files.size() + batches[1].files.size() + batches[2].files.size(), 50U);
}

TEST_F(Batches, IncludeHeadersOnceAndBeforeTheNamespaces) {
  const std::string beside = write("own.h", "#pragma once\n").string();
  const std::string text =
      sourceOf({"sm_80",
                {write("a.cu", "#include \"own.h\"\n#include <vector>\n#define N 8\n// #define M 8\n"),
                 write("b.cu", "#include <vector> // as well\n#include \"elsewhere.h\"\n")}});
  EXPECT_TRUE(text.starts_with("#include \"" + beside +
                               "\"\n#include <vector>\n#include \"elsewhere.h\"\nnamespace"));
  EXPECT_THAT(text, HasSubstr("a.cu\"\n}\n#undef N\nnamespace file_1"));
  EXPECT_THAT(text, Not(HasSubstr("#undef M")));
}

} // namespace
} // namespace kcheck::expectations
