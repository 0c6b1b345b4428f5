// The command line: compiler options among ours, extents, option comments in files, and what bad input is
// told.
#include "driver/clang_arguments.h"
#include "driver/extent.h"
#include "driver/file_lines.h"
#include "driver/options.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace kcheck::driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SplitArguments, TakesCompilerOptionsInEverySpelling) {
  auto split = splitArguments({"-I", "inc", "-DN=3", "--block=8", "-std=c++20", "a.cu", "-include", "x.h",
                               "-lm", "-L", "lib", "-O3", "--", "-I", "arg"});
  ASSERT_TRUE(split);
  EXPECT_THAT(split->compiler, ElementsAre("-I", "inc", "-DN=3", "-std=c++20", "-include", "x.h", "-O3"));
  EXPECT_THAT(split->linker, ElementsAre("-lm", "-L", "lib"));
  EXPECT_THAT(split->own, ElementsAre("--block=8", "a.cu"));
  EXPECT_THAT(split->program, ElementsAre("-I", "arg"));
}

TEST(SplitArguments, PassesOverHowNvccBuilds) {
  auto split = splitArguments({"-gencode", "arch=compute_80,code=sm_80", "-lineinfo", "--extended-lambda",
                               "-Xcompiler=-Wall", "-Xptxas", "-v", "-rdc=true", "--fmad=false",
                               "-use_fast_math", "-G", "a.cu"});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->own, std::vector<std::string>{"a.cu"});
  EXPECT_TRUE(split->compiler.empty());
  EXPECT_TRUE(split->linker.empty()) << "-lineinfo is no library";
}

TEST(SplitArguments, TakesNvccsDeviceAndStreams) {
  auto split = splitArguments({"-arch", "sm_75", "--default-stream=per-thread", "a.cu"});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->own, (std::vector<std::string>{"--arch=sm_75", "a.cu"}));
  EXPECT_EQ(split->compiler, std::vector<std::string>{"-DCUDA_API_PER_THREAD_DEFAULT_STREAM"});
  EXPECT_EQ(splitArguments({"-gpu-architecture=compute_90", "a.cu"})->own,
            (std::vector<std::string>{"--arch=sm_90", "a.cu"}));
  EXPECT_EQ(splitArguments({"-arch=native", "a.cu"})->own, std::vector<std::string>{"a.cu"});
  EXPECT_EQ(splitArguments({"--arch=sm_70", "a.cu"})->own,
            (std::vector<std::string>{"--arch=sm_70", "a.cu"}));
}

TEST(SplitArguments, AnOptionWithoutItsValueIsAnError) {
  auto split = splitArguments({"a.cu", "-I"});
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().message, "option -I wants a value after it");
}

TEST(Extents, ReadsAxesAndFreeAxes) {
  auto block = parseExtent("32,8", ExtentOf::Block);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->x, 32U);
  EXPECT_EQ(block->y, 8U);
  EXPECT_EQ(block->z, 1U);
  auto grid = parseExtent("*,4", ExtentOf::Grid);
  ASSERT_TRUE(grid);
  EXPECT_FALSE(grid->x.has_value());
  EXPECT_EQ(grid->y, 4U);
}

TEST(Extents, SaysWhatIsWrong) {
  auto message = [](const char* text, ExtentOf what) { return parseExtent(text, what).error().message; };
  EXPECT_EQ(message("0", ExtentOf::Block), "--block=0: an extent of 0 launches nothing; the least is 1");
  EXPECT_EQ(message("2048", ExtentOf::Block),
            "--block=2048: the x extent of a block is at most 1024 in CUDA");
  EXPECT_EQ(message("64,64", ExtentOf::Block), "--block=64,64: 4096 threads; a CUDA block has at most 1024");
  EXPECT_THAT(message("-1", ExtentOf::Grid), HasSubstr("`-1` is no extent"));
  EXPECT_THAT(message("8,", ExtentOf::Grid), HasSubstr("`` is no extent"));
  EXPECT_THAT(message("1,1,1,1", ExtentOf::Grid), HasSubstr("at most three"));
}

TEST(FileLines, ReadsOptionsLaunchesAndGpuVerifyLines) {
  std::istringstream source("//--blockDim=[8,4] --gridDim=64\n"
                            "// kcheck: --checks=race -DNAME='a b'\n"
                            "// launch: k<<<8,128>>>(float[1000], 1000)\n"
                            "int x; // kcheck is a tool\n");
  FileLines lines = readFileLines(source);
  EXPECT_THAT(lines.arguments, ElementsAre("--block=8,4", "--grid=64", "--checks=race", "-DNAME=a b"));
  EXPECT_THAT(lines.launches, ElementsAre("k<<<8,128>>>(float[1000], 1000)"));
}

TEST(FileLines, AreEmptyWhereThereAreNone) {
  std::istringstream source("int main() { return 0; }\n");
  EXPECT_THAT(readFileLines(source).arguments, IsEmpty());
}

class OptionsTest : public testing::Test {
protected:
  OptionsTest() {
    folder = std::filesystem::temp_directory_path() / ("kcheck-options-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    file = folder / "a b'c.cu";
    write("__global__ void k() {}\n");
  }
  ~OptionsTest() override { std::filesystem::remove_all(folder); }

  void write(const std::string& text) const { std::ofstream(file) << text; }

  std::filesystem::path folder, file;
};

TEST_F(OptionsTest, DefaultsToBothPassesAndText) {
  auto options = readOptions({file});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->wantStatic && options->wantRun);
  ASSERT_EQ(options->outputs.size(), 1U);
  EXPECT_EQ(options->outputs[0].format, Format::Text);
  EXPECT_EQ(options->frontend.files[0], file);
}

TEST_F(OptionsTest, EachFormatMayHaveItsOwnFile) {
  auto options = readOptions({"--format=text", "--format=json", "-o", "r.json", file});
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(options->outputs.size(), 2U);
  EXPECT_EQ(options->outputs[0].path, "");
  EXPECT_EQ(options->outputs[1].format, Format::Json);
  EXPECT_EQ(options->outputs[1].path, "r.json");
}

TEST_F(OptionsTest, TheCommandLineOverridesTheFile) {
  write("// kcheck: --block=64 --grid=2\n__global__ void k() {}\n");
  auto options = readOptions({file, "--block=128"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->analyzer.block->x, 128U);
  EXPECT_EQ(options->analyzer.grid->x, 2U);
}

TEST_F(OptionsTest, AFileThatAsksForOnePassYieldsToTheCommandLine) {
  write("// kcheck: --run\n__global__ void k() {}\n");
  auto asked = readOptions({file});
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_FALSE(asked->wantStatic);
  auto overridden = readOptions({"--static", file});
  ASSERT_TRUE(overridden) << overridden.error().message;
  EXPECT_TRUE(overridden->wantStatic);
  EXPECT_FALSE(overridden->wantRun);
}

TEST_F(OptionsTest, BadInputIsToldWhatToTry) {
  auto message = [](std::vector<std::string> arguments) {
    auto options = readOptions(arguments);
    return options ? "accepted" : options.error().message;
  };
  EXPECT_THAT(message({}), HasSubstr("no input file"));
  EXPECT_EQ(message({"no_such.cu"}), "no_such.cu: there is no such file");
  EXPECT_THAT(message({folder}), HasSubstr("is a directory"));
  EXPECT_EQ(message({file, "--blok=3"}), "unknown option --blok; did you mean --block?");
  EXPECT_THAT(message({file, "--format=xml"}), HasSubstr("--format"));
  EXPECT_THAT(message({file, "--schedule=random"}), HasSubstr("wants fair, lockstep or random:SEED"));
  EXPECT_THAT(message({file, "--static", "--run"}), HasSubstr("exclude each other"));
  EXPECT_THAT(message({file, "--checks=rase"}), HasSubstr("race"));
  EXPECT_THAT(message({"--explain=race-sharde"}), HasSubstr("race-shared"));
}

TEST_F(OptionsTest, AnswersWithoutAFile) {
  EXPECT_THAT(readOptions({"--version"})->answer, HasSubstr("kcheck 0"));
  EXPECT_THAT(readOptions({"--help"})->answer, HasSubstr("--block"));
  EXPECT_THAT(readOptions({"--list-rules"})->answer, HasSubstr("race-shared"));
  EXPECT_THAT(readOptions({"--explain=race-shared"})->answer, HasSubstr("__syncthreads"));
}

} // namespace
} // namespace kcheck::driver
