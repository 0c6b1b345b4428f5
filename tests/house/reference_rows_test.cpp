// Every row of the reference list has its program in kernels/ and each of its wrong variants in fixtures/; a
// right one expects no error, a wrong one expects something, and every one opens with what it is about.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = KCHECK_SOURCE_DIR;

struct Row {
  std::string id;
  std::vector<std::string> wrong;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      // A. Element-wise work
      {"vecadd", {"noguard"}},
      {"vecadd_exact", {"bigblock", "biggrid", "smallblock", "smallgrid"}},
      {"add_stride", {"blockstride", "nostart"}},
      {"hypot_stride", {}},
      {"square", {}},
      {"add_ten", {}},
      {"broadcast_add", {}},
      {"gaussian_pdf", {"double"}},
      {"polar_distance", {}},
      {"zero_suppress", {}},
      {"pulses", {"roundtrip"}},
      {"hidden_layer", {"roundtrip"}},
      {"increment", {}},
      {"double_1d", {}},
      {"double_2d", {"exchanged", "guardx", "guardy"}},
      {"device_fn_swapped", {"launch"}},
      {"get_2d_indices", {}},
      {"l2_norm", {}},
      {"bubblesort", {"32threads"}},
      {"monte_carlo_pi", {"plainsum", "sharedstate"}},
      // B. Races and atomics
      {"counter", {"nonatomic"}},
      {"histogram", {"lessequal", "noguard", "nonatomic"}},
      {"histogram_shared", {"nomergebarrier", "nozerobarrier", "unzeroed"}},
      {"stencil", {"inplace"}},
      {"last_block", {"allblocks", "nofence", "plainticket"}},
      {"spin_lock", {"blockscope", "norelease", "onepath"}},
      // C. Shared memory and barriers
      {"swap_shared", {"nobarrier"}},
      {"transpose_naive", {}},
      {"transpose_tile", {"nobarrier", "notexchanged"}},
      {"transpose_padded", {"handstride", "mixedstride"}},
      {"gemv_row", {}},
      {"gemv_col", {}},
      {"gemv_shared", {"block32", "nofirst", "nosecond", "oddsize"}},
      {"matmul_tiled", {"guardedbarrier", "notrailing", "oddsize"}},
      {"stencil_shared", {"barrierinif", "nobarrier", "nohalo"}},
      {"reduce_block", {"barrierinif", "mask", "nobarrier", "volatile"}},
      {"scan_shared", {"singlebuffer"}},
      // D. Coalescing
      {"add_experiment", {}},
      {"offset_copy", {}},
      {"column_sums", {}},
      {"row_sums", {}},
      {"matrix_add", {}},
      {"aos_soa", {}},
      {"bank_stride", {}},
      // E. Host code around kernels
      {"timing", {"nosync"}},
      {"managed_read", {"nosync"}},
      {"streams", {"earlyread", "noevent"}},
      {"pinned", {"pageable"}},
      {"errors", {"unchecked"}},
      {"lifetimes", {"devicepointer", "doublefree", "hostpointer", "leak", "useafterfree"}},

  };
  return list;
}

std::string contents(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::size_t headerLines(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  std::size_t count = 0;
  while (std::getline(in, line) && line.starts_with("//")) ++count;
  return count;
}

/// Advice on traffic and on a launch's shape may be due in a right program; nothing else may.
bool expectsFinding(const std::string& text) {
  return std::regex_search(
      text, std::regex("// expect(-run|-static)?: (?!uncoalesced|bank-conflict|launch-shape)"));
}

bool expectsAnything(const std::string& text) {
  return std::regex_search(text, std::regex("// expect(-run|-static|-later|-efficiency|-bank-ways)?: "));
}

std::vector<fs::path> programsIn(const std::string& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder))
    if (entry.path().extension() == ".cu") found.push_back(entry.path());
  return found;
}

TEST(ReferenceRows, EveryRightProgramIsThere) {
  for (const Row& row : rows())
    EXPECT_TRUE(fs::is_regular_file(root / "kernels" / (row.id + ".cu"))) << row.id;
}

TEST(ReferenceRows, EveryWrongVariantIsThereAndSaysWhatIsWrong) {
  for (const Row& row : rows())
    for (const std::string& variant : row.wrong) {
      const fs::path path = root / "fixtures" / (row.id + "_" + variant + ".cu");
      ASSERT_TRUE(fs::is_regular_file(path)) << path.filename();
      EXPECT_TRUE(expectsAnything(contents(path))) << path.filename() << " expects nothing";
    }
}

TEST(ReferenceRows, RightProgramsExpectNoError) {
  for (const fs::path& path : programsIn("kernels"))
    EXPECT_FALSE(expectsFinding(contents(path))) << path.filename();
}

TEST(ReferenceRows, EveryProgramOpensWithItsIdea) {
  for (const std::string folder : {"kernels", "fixtures"})
    for (const fs::path& path : programsIn(folder))
      EXPECT_GE(headerLines(contents(path)), 1u) << path.filename() << " needs a header that says its idea";
}

TEST(ReferenceRows, EveryProgramChecksItself) {
  for (const fs::path& path : programsIn("kernels")) {
    const std::string text = contents(path);
    EXPECT_NE(text.find("int main("), std::string::npos) << path.filename();
    EXPECT_NE(text.find("wrong"), std::string::npos) << path.filename() << " says nothing of its result";
  }
}

} // namespace
