// What linking says when something is missing.
#include "frontend/frontend.h"
#include "instrument/instrument.h"
#include "instrument/pass/temporary.h"

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace kcheck::instrument {
namespace {

std::string linkError(const std::string& source, std::vector<std::string> linkArguments = {}) {
  auto folder = TemporaryFolder::make();
  EXPECT_TRUE(folder);
  std::string file = folder->path() + "/program.cu";
  EXPECT_TRUE(writeFile(file, source));
  frontend::Options compiling;
  compiling.files = {file};
  auto program = frontend::compile(compiling);
  EXPECT_TRUE(program) << program.error().message;
  Options options;
  options.linkArguments = std::move(linkArguments);
  auto linked = linkProgram(program->hostObjects, options, folder->path() + "/program");
  return linked ? "" : linked.error().message;
}

TEST(Link, ignoresTheCudaRuntimesOwnName) {
  EXPECT_EQ(linkError("int main() {}", {"-lcudart", "-lcudadevrt"}), "");
}

TEST(Link, namesAMissingLibrary) {
  EXPECT_EQ(linkError("int main() {}", {"-lnosuchthing"}),
            "cannot link the program: there is no library `nosuchthing`; is a -L missing?");
}

TEST(Link, namesAMissingFunction) {
  EXPECT_EQ(linkError("int nowhere(int); int main() { return nowhere(1); }"),
            "cannot link the program: nothing defines `nowhere(int)`; is a source file or a -l missing?");
}

TEST(Link, namesTheGpuLibrary) {
  EXPECT_EQ(linkError("extern \"C\" int cusparseCreate(void*); int main() { return cusparseCreate(0); }",
                      {"-lcusparse"}),
            "the program calls `cusparseCreate` of cuSPARSE, which kcheck cannot run without a GPU");
}

TEST(Link, namesTheFunctionOfALibraryThatRunsInParts) {
  EXPECT_EQ(
      linkError("extern \"C\" int cufftXtFree(void*); int main() { return cufftXtFree(0); }", {"-lcufft"}),
      "the program calls `cufftXtFree` of cuFFT, of which kcheck runs the common functions only");
}

} // namespace
} // namespace kcheck::instrument
