// Every function of the toolkit's runtime header is defined: implemented, refused as the device refuses it,
// or reported as missing; none is left to fail at link time without a word.
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

std::set<std::string> definedNames(const std::string& library) {
  std::set<std::string> names;
  FILE* pipe = popen(("nm -g --defined-only '" + library + "' 2>/dev/null").c_str(), "r");
  if (!pipe) return names;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe)) {
    std::string text = line;
    std::size_t at = text.find(" T ");
    if (at != std::string::npos) names.insert(text.substr(at + 3, text.size() - at - 4));
  }
  pclose(pipe);
  return names;
}

TEST(RuntimeApi, EveryFunctionOfTheToolkitIsDefined) {
#ifdef KCHECK_CUDA_INCLUDE
  std::ifstream header(KCHECK_CUDA_INCLUDE "/cuda_runtime_api.h");
#else
  std::ifstream header;
#endif
  if (!header) GTEST_SKIP() << "no CUDA toolkit to compare with";
  std::ostringstream text;
  text << header.rdbuf();
  std::set<std::string> defined = definedNames(KCHECK_RUNTIME_LIBRARY);
  ASSERT_TRUE(defined.contains("cudaMalloc"));
  std::regex declaration(R"(extern\s+__host__[^;(]*?\b(cuda[A-Z]\w*)\s*\()");
  std::string content = text.str();
  std::size_t found = 0;
  for (std::sregex_iterator it(content.begin(), content.end(), declaration), end; it != end; ++it, ++found)
    EXPECT_TRUE(defined.contains((*it)[1])) << (*it)[1];
  EXPECT_GT(found, 300u);
  for (const char* name :
       {"__cudaRegisterFatBinary", "__cudaRegisterFunction", "__cudaRegisterVar",
        "__cudaPushCallConfiguration", "__cudaPopCallConfiguration", "cudaMemcpyAsync_ptsz",
        "cudaLaunchKernel_ptsz", "cudaMemcpy_ptds", "cudaProfilerStart"})
    EXPECT_TRUE(defined.contains(name)) << name;
}

} // namespace
