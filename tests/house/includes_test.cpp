// The include table of docs/architecture.md, held by grep: who may include whom, and the one door of each
// library.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = KCHECK_SOURCE_DIR;

struct Room {
  std::string folder;               ///< the longest matching folder owns a file
  std::set<std::string> mayInclude; ///< folders and library names; its own folder always
};

/// From the most special to the most general folder.
const std::vector<Room> rooms = {
    {"report", {"fmt", "nlohmann"}},
    {"ptx", {"llvm"}},
    {"frontend", {"report", "clang", "llvm", "fmt"}},
    {"analyzer/smt", {"analyzer", "report", "z3", "fmt"}},
    {"analyzer/expr", {"analyzer/expr", "fmt"}},
    {"analyzer/decide", {"analyzer/expr", "analyzer/decide", "analyzer/smt", "analyzer", "report", "fmt"}},
    {"analyzer", {"report", "ptx", "llvm", "fmt"}},
    {"instrument/runtime",
     {"instrument/abi", "instrument/abi_calls", "instrument/wire", "report/location", "report/program"}},
    {"instrument/pass",
     {"instrument/abi", "instrument/abi_calls", "instrument/wire", "instrument/instrument", "report", "ptx",
      "llvm", "fmt"}},
    {"instrument", {"report"}},
    {"driver", {"report", "frontend", "analyzer", "instrument", "llvm", "fmt", "CLI"}},
};

const std::set<std::string> watched = {"report", "ptx",  "frontend", "analyzer", "instrument", "driver",
                                       "clang",  "llvm", "z3",       "fmt",      "nlohmann",   "CLI"};

bool isUnder(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/") || path.starts_with(folder + ".");
}

const Room* roomOf(const std::string& file) {
  for (const Room& room : rooms)
    if (isUnder(file, room.folder)) return &room;
  return nullptr;
}

std::string libraryOf(const std::string& include) {
  std::string first = include.substr(0, include.find('/'));
  if (first.starts_with("z3")) return "z3";
  if (first == "clang-c") return "clang";
  if (first == "llvm-c") return "llvm";
  return first;
}

/// Empty when `file` may include `include`.
std::string complaint(const std::string& file, const std::string& include) {
  const Room* room = roomOf(file);
  const std::string library = libraryOf(include);
  if (!room || !watched.contains(library) || isUnder(include, room->folder)) return {};
  for (const std::string& allowed : room->mayInclude)
    if (isUnder(include, allowed) || library == allowed) return {};
  return file + " must not include " + include;
}

std::vector<std::string> sources() {
  std::vector<std::string> files;
  for (const Room& room : rooms)
    if (fs::exists(root / room.folder))
      for (const auto& entry : fs::recursive_directory_iterator(root / room.folder)) {
        std::string name = fs::relative(entry.path(), root).string();
        if (name.starts_with("frontend/headers") || !entry.is_regular_file()) continue;
        std::string extension = entry.path().extension();
        if (extension == ".cpp" || extension == ".h" || extension == ".def") files.push_back(name);
      }
  return files;
}

std::vector<std::string> includesOf(const std::string& file) {
  static const std::regex pattern(R"re(^\s*#\s*include\s*["<]([^">]+)[">])re");
  std::vector<std::string> includes;
  std::ifstream in(root / file);
  std::smatch found;
  for (std::string line; std::getline(in, line);)
    if (std::regex_search(line, found, pattern)) includes.push_back(found[1]);
  return includes;
}

TEST(Includes, FollowTheTable) {
  std::set<std::string> complaints;
  std::size_t seen = 0;
  for (const std::string& file : sources())
    for (const std::string& include : includesOf(file)) {
      ++seen;
      if (std::string text = complaint(file, include); !text.empty()) complaints.insert(text);
    }
  EXPECT_GT(seen, 50U);
  for (const std::string& text : complaints) ADD_FAILURE() << text;
}

TEST(Includes, TheTableCanFail) {
  EXPECT_NE(complaint("report/merge.cpp", "llvm/IR/Module.h"), "");
  EXPECT_NE(complaint("report/merge.cpp", "frontend/frontend.h"), "");
  EXPECT_NE(complaint("analyzer/model/phases.cpp", "z3++.h"), "");
  EXPECT_NE(complaint("analyzer/expr/expr.cpp", "llvm/IR/Value.h"), "");
  EXPECT_NE(complaint("instrument/runtime/core/memory.cpp", "llvm/ADT/Twine.h"), "");
  EXPECT_NE(complaint("instrument/runtime/core/memory.cpp", "report/finding.h"), "");
  EXPECT_NE(complaint("instrument/pass/pass.cpp", "clang/AST/AST.h"), "");
  EXPECT_EQ(complaint("analyzer/smt/solver.cpp", "z3++.h"), "");
  EXPECT_EQ(complaint("frontend/sites.cpp", "clang/AST/AST.h"), "");
  EXPECT_EQ(complaint("instrument/runtime/core/memory.h", "report/location.h"), "");
}

} // namespace
