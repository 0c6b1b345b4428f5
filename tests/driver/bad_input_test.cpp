// Bad input, end to end: each case gets one clear sentence, the exit status of the table, and leaves nothing
// behind.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

struct Outcome {
  int status = -1;
  std::string out, err;
};

std::string slurp(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class BadInput : public testing::Test {
protected:
  BadInput() {
    folder = fs::temp_directory_path() / ("kcheck bad 'input' " + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  ~BadInput() override { fs::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
    return (folder / name).string();
  }

  static std::string quoted(const std::string& text) {
    std::string result = "'";
    for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
  }

  /// Runs kcheck with these arguments (each is quoted), `environment` before the command.
  Outcome kcheck(const std::vector<std::string>& arguments, const std::string& environment = "") const {
    const fs::path out = folder / "stdout", err = folder / "stderr";
    std::string command = environment + " " + quoted(KCHECK_PROGRAM);
    for (const std::string& argument : arguments) command += " " + quoted(argument);
    command += " >" + quoted(out) + " 2>" + quoted(err) + " </dev/null";
    int raw = std::system(command.c_str());
    Outcome outcome{WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, slurp(out), slurp(err)};
    EXPECT_THAT(outcome.err, Not(HasSubstr("Stack dump"))) << command;
    EXPECT_THAT(outcome.err, Not(HasSubstr("PLEASE submit a bug report"))) << command;
    return outcome;
  }

  void expectRefused(const std::vector<std::string>& arguments, const std::string& sentence,
                     const std::string& environment = "") const {
    Outcome outcome = kcheck(arguments, environment);
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(sentence));
    EXPECT_EQ(outcome.out, "");
  }

  const std::string kernel = "__global__ void k(int* a) { a[threadIdx.x] = 1; }\n";
  fs::path folder;
};

TEST_F(BadInput, FilesThatAreNone) {
  expectRefused({(folder / "missing.cu").string()}, "missing.cu: there is no such file");
  expectRefused({folder.string()}, "is a directory");
  expectRefused({file("empty.cu", "")}, "empty.cu' is empty");
  expectRefused({file("plain.cu", "int helper() { return 0; }\n")}, "no kernel in");
  expectRefused({"--static", file("host.cu", "int main() { return 0; }\n")}, "no kernel in");
  expectRefused({file("binary.cu", std::string("\x7f"
                                               "ELF\0\1\2\3\0\0\xff\xfe",
                                               12))},
                "binary.cu");
}

TEST_F(BadInput, ATemplateOfWhichNoInstanceCompilesIsUnknown) {
  const std::string path =
      file("apply.cu", "\ntemplate <class F> __global__ void apply(int* a, F f) { a[0] = f(a[0]); }\n");
  for (const std::string& option : {"--static", "--kernel=apply"}) {
    Outcome outcome = kcheck({option, path});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out,
                HasSubstr("of `apply` unknown because it is a template without an instance (line 2)"));
  }
  EXPECT_EQ(kcheck({"--strict", path}).status, 1);
  EXPECT_THAT(kcheck({"--format=json", path}).out, HasSubstr("\"name\": \"apply\""));
}

TEST_F(BadInput, NumbersThatAreNone) {
  const std::string k = file("k.cu", "__global__ void k() {}\n");
  expectRefused({"--jobs=0", k}, "--jobs: '0' is no number above 0");
  expectRefused({"--timeout=abc", k}, "--timeout: 'abc' is no number from 0 on");
  expectRefused({"--memory-limit=12x", k}, "--memory-limit: '12x' is no number above 0");
}

TEST_F(BadInput, ProgramsWithoutKernelsRunUnderTheHostChecks) {
  const std::string leak = "int main() { int* p; return cudaMalloc(&p, 64); }\n";
  Outcome outcome = kcheck({file("leak.cu", leak)});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("64 bytes allocated here are never freed [leak]"));
  EXPECT_THAT(outcome.out, HasSubstr("1 warning in no kernels"));
}

TEST_F(BadInput, SyntaxErrorsAreClangsOwnWords) {
  Outcome outcome = kcheck({file("broken.cu", "__global__ void k(int* a) { a[0] = ; }\n")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("broken.cu:1:36: error: expected expression"));
  EXPECT_EQ(outcome.out, "");
}

TEST_F(BadInput, AKernelThatLaunchesAKernelIsNamedAsSuch) {
  Outcome outcome =
      kcheck({file("nested.cu", kernel + "__global__ void outer(int* a) { k<<<1, 32>>>(a); }\n")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("nested.cu:2:"));
  EXPECT_THAT(outcome.err, HasSubstr("dynamic parallelism) are not supported"));
}

TEST_F(BadInput, AKernelWithoutMainGetsTheStaticPassAndIsTold) {
  Outcome outcome = kcheck({file("nomain.cu", kernel)});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("--launch"));
  expectRefused({"--run", file("nomain.cu", kernel)}, "--launch");
}

TEST_F(BadInput, OptionsOutOfRange) {
  const std::string good = file("k.cu", kernel);
  expectRefused({"--blok=3", good}, "did you mean --block?");
  expectRefused({"--block=0", good}, "--block=0");
  expectRefused({"--block=2048", good}, "at most 1024");
  expectRefused({"--grid=-1", good}, "--grid=-1");
  expectRefused({"--static", "--kernel=nope", good}, "there is no such kernel; there are k");
  expectRefused({"--cuda-path=/nonexistent", good}, "/nonexistent");
  expectRefused({"--arch=sm_1", good}, "sm_1");
}

TEST_F(BadInput, OutputsThatCannotBeWritten) {
  const std::string good = file("k.cu", kernel);
  expectRefused({"--static", "-o", "/nonexistent/report.txt", good},
                "/nonexistent/report.txt: cannot be written");
  expectRefused({"--static", "-o", folder.string(), good}, "is a directory");
  for (const auto& entry : fs::directory_iterator(folder))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".tmp")));
}

TEST_F(BadInput, ATemporaryFolderThatCannotBeUsed) {
  const std::string whole =
      file("main.cu", kernel + "int main() { int* p; cudaMalloc(&p, 128); k<<<1, 32>>>(p); "
                               "cudaDeviceSynchronize(); cudaFree(p); }\n");
  expectRefused({whole}, "/proc/nothing", "TMPDIR=/proc/nothing");
  Outcome outcome = kcheck({whole});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err; // a path with blanks and quotes works
}

TEST_F(BadInput, TemporaryFoldersThatAKilledRunLeft) {
  const std::string whole =
      file("main.cu", kernel + "int main() { int* p; cudaMalloc(&p, 128); k<<<1, 32>>>(p); "
                               "cudaDeviceSynchronize(); cudaFree(p); }\n");
  const fs::path parent = folder / "tmp", old = parent / "kcheck-aaaaaa", fresh = parent / "kcheck-bbbbbb",
                 other = parent / "kcheck-results";
  for (const fs::path& path : {old, fresh, other}) fs::create_directories(path / "inside");
  for (const fs::path& path : {old, other})
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(kcheck({"--run", whole}, "TMPDIR=" + quoted(parent.string())).status, 0);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh)); // somebody may just have made it
  EXPECT_TRUE(fs::exists(other)); // not ours
}

TEST_F(BadInput, ATemporaryFolderThatFillsUp) {
  const std::string whole = file("main.cu", kernel + "int main() { k<<<1, 32>>>(nullptr); }\n");
  const fs::path small = folder / "small";
  fs::create_directory(small);
  if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "making a small file system wants root";
  expectRefused({"--run", whole}, "No space left on device; set TMPDIR to a folder with room",
                "TMPDIR=" + quoted(small.string()));
  EXPECT_TRUE(fs::is_empty(small));
  umount(small.c_str());
}

TEST_F(BadInput, TwoFilesThatDefineTheSameKernel) {
  expectRefused({"--static", file("one.cu", kernel), file("two.cu", kernel)}, "two.cu");
}

} // namespace
