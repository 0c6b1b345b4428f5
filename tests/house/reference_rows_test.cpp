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

/// The rows that the static pass proves ("P" in the list).
const std::vector<std::string> proved = {
    "vecadd",           "vecadd_exact", "add_stride",       "hypot_stride", "polar_distance",
    "zero_suppress",    "counter",      "histogram_shared", "stencil",      "swap_shared",
    "transpose_padded", "gemv_shared",  "matmul_tiled",     "reduce_block", "scan_shared"};

TEST(ReferenceRows, WhatIsToBeProvedSaysSo) {
  for (const std::string& id : proved)
    EXPECT_TRUE(std::regex_search(contents(root / "kernels" / (id + ".cu")),
                                  std::regex("// expect-proved: .*race-free")))
        << id;
}

/// Wrong variants that the list marks for both passes, for the static pass ("S") and for the run ("D").
const std::vector<std::pair<std::string, std::string>> marked = {{"vecadd_noguard", "SD"},
                                                                 {"vecadd_exact_smallblock", "SD"},
                                                                 {"vecadd_exact_smallgrid", "SD"},
                                                                 {"vecadd_exact_biggrid", "SD"},
                                                                 {"vecadd_exact_bigblock", "SD"},
                                                                 {"add_stride_blockstride", "SD"},
                                                                 {"add_stride_nostart", "SD"},
                                                                 {"pulses_roundtrip", "SD"},
                                                                 {"hidden_layer_roundtrip", "SD"},
                                                                 {"bubblesort_32threads", "SD"},
                                                                 {"monte_carlo_pi_plainsum", "SD"},
                                                                 {"counter_nonatomic", "SD"},
                                                                 {"histogram_noguard", "D"},
                                                                 {"stencil_inplace", "SD"},
                                                                 {"swap_shared_nobarrier", "SD"},
                                                                 {"transpose_tile_nobarrier", "SD"},
                                                                 {"gemv_shared_oddsize", "SD"},
                                                                 {"gemv_shared_block32", "SD"},
                                                                 {"timing_nosync", "S"},
                                                                 {"managed_read_nosync", "D"},
                                                                 {"streams_noevent", "D"},
                                                                 {"streams_earlyread", "D"},
                                                                 {"pinned_pageable", "S"},
                                                                 {"errors_unchecked", "SD"},
                                                                 {"lifetimes_useafterfree", "D"},
                                                                 {"lifetimes_doublefree", "D"},
                                                                 {"lifetimes_leak", "D"},
                                                                 {"lifetimes_hostpointer", "D"},
                                                                 {"lifetimes_devicepointer", "D"}};

TEST(ReferenceRows, ThePassesThatTheListNamesSeeTheMistake) {
  for (const auto& [name, passes] : marked) {
    const std::string text = contents(root / "fixtures" / (name + ".cu"));
    for (const char pass : passes)
      EXPECT_TRUE(
          std::regex_search(text, std::regex(pass == 'S' ? "// expect(-static)?: " : "// expect(-run)?: ")))
          << name << ": " << pass;
  }
}

/// The exact figures of the list, as each file expects them, in any order.
const std::vector<std::pair<std::string, std::vector<std::string>>> figures = {
    {"vecadd", {"efficiency: load 100 store 100"}},
    {"transpose_naive", {"efficiency: 100", "efficiency: 12.5"}},
    {"transpose_tile", {"efficiency: 100", "bank-ways: 32"}},
    {"gemv_row", {"efficiency: 25", "sectors: 32"}},
    {"gemv_col", {"efficiency: 100"}},
    {"add_experiment",
     {"efficiency: 100", "efficiency: 50", "efficiency: 25", "efficiency: 12.5", "sectors: 4", "sectors: 8",
      "sectors: 16", "sectors: 32"}},
    {"offset_copy", {"sectors: 4", "sectors: 5"}},
    {"column_sums", {"efficiency: 100"}},
    {"row_sums", {"efficiency: 12.5"}},
    {"matrix_add", {"efficiency: load 100 store 100", "efficiency: load 12.5 store 12.5"}},
    {"aos_soa", {"efficiency: 25", "efficiency: 100", "sectors: 16"}},
    {"bank_stride", {"bank-ways: 1", "bank-ways: 2", "bank-ways: 4", "bank-ways: 32"}}};

TEST(ReferenceRows, TheExactFiguresAreExpected) {
  for (const auto& [id, wanted] : figures) {
    const std::string text = contents(root / "kernels" / (id + ".cu"));
    for (const std::string& figure : wanted)
      EXPECT_TRUE(std::regex_search(text, std::regex("// expect-" + figure + "(\\s|$)")))
          << id << ": " << figure;
  }
}

} // namespace
