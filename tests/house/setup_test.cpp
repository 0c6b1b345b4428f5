// The part of ./kcheck and ./test that installs packages (cmake/setup.sh), with stand-ins for Debian's tools:
// what is asked for, through whom, and what is said when it cannot be had.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Setup : public testing::Test {
protected:
  Setup() {
    tools = fs::temp_directory_path() / ("kcheck-setup-" + std::to_string(getpid()));
    fs::create_directories(tools);
    for (const char* needed : {"dirname", "mktemp", "rm", "tail", "env"})
      fs::create_symlink(fs::path("/usr/bin") / needed, tools / needed);
    tool("dpkg-query", "[ \"${@: -1}\" = cmake ] && echo 'install ok installed' || exit 1");
    tool("apt-get", "echo \"apt-get $*\" >>\"${0%/*}/calls\"");
    tool("sudo", "echo \"sudo $*\" >>\"${0%/*}/calls\"; \"$@\"");
    tool("id", "echo 1000");
  }
  ~Setup() override { fs::remove_all(tools); }

  void tool(const std::string& name, const std::string& script) const {
    fs::remove(tools / name);
    std::ofstream(tools / name) << "#!/bin/bash\n" << script << '\n';
    chmod((tools / name).c_str(), 0755);
  }
  void without(const std::string& name) const { fs::remove(tools / name); }

  static std::string contentOf(const fs::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  /// Asks for cmake, which is there, and for lld-19, which is not; whether that went well.
  bool installs() {
    const std::string command = "PATH=" + tools.string() +
                                " /bin/bash -c '. " KCHECK_SOURCE_DIR
                                "/cmake/setup.sh; install_packages cmake lld-19' 2>" +
                                (tools / "said").string();
    const int status = std::system(command.c_str());
    said = contentOf(tools / "said");
    calls = contentOf(tools / "calls");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  fs::path tools;
  std::string said, calls;
};

TEST_F(Setup, AsksSudoForWhatIsMissingAndSaysWhich) {
  EXPECT_TRUE(installs()) << said;
  EXPECT_THAT(said, HasSubstr("kcheck: installing Debian packages: lld-19\n"));
  EXPECT_THAT(calls, HasSubstr("sudo apt-get install -y --no-install-recommends lld-19\n"));
}

TEST_F(Setup, RootNeedsNoSudo) {
  tool("id", "echo 0");
  EXPECT_TRUE(installs()) << said;
  EXPECT_THAT(calls, Not(HasSubstr("sudo")));
  EXPECT_THAT(calls, HasSubstr("apt-get install"));
}

TEST_F(Setup, NothingMissingCallsNobody) {
  tool("dpkg-query", "echo 'install ok installed'");
  EXPECT_TRUE(installs());
  EXPECT_EQ(said, "");
  EXPECT_EQ(calls, "");
}

TEST_F(Setup, RefreshesTheListsWhenTheFirstInstallFails) {
  tool("apt-get", "echo \"apt-get $*\" >>\"${0%/*}/calls\"; [ -e \"${0%/*}/lists\" ] || "
                  "{ [ \"$1\" = update ] && : >\"${0%/*}/lists\"; }");
  EXPECT_TRUE(installs()) << said;
  EXPECT_THAT(calls, HasSubstr("apt-get update\n"));
}

TEST_F(Setup, WithoutNetworkNamesWhatToInstallByHand) {
  tool("apt-get", "echo 'E: Temporary failure resolving deb.debian.org' >&2; exit 100");
  EXPECT_FALSE(installs());
  EXPECT_THAT(said, HasSubstr("E: Temporary failure resolving"));
  EXPECT_THAT(said,
              HasSubstr("could not install them (no network?); install by hand: apt-get install lld-19\n"));
}

TEST_F(Setup, WithoutSudoNamesWhatIsMissing) {
  without("sudo");
  EXPECT_FALSE(installs());
  EXPECT_EQ(said, "kcheck: not root and no sudo; have these packages installed: apt-get install lld-19\n");
}

TEST_F(Setup, OnAnotherSystemNamesWhatIsMissing) {
  without("apt-get");
  EXPECT_FALSE(installs());
  EXPECT_THAT(said, HasSubstr("no apt-get; install the equivalent of these Debian 12 packages: lld-19"));
}

} // namespace
