// The error table: names and numbers against the toolkit's header where there is one, the well-known
// sentences, and the state machine of last, pending and sticky errors.
#include "instrument/runtime/api/errors.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>

using namespace kcheck::runtime::api;

extern "C" {
Error cudaGetLastError();
Error cudaPeekAtLastError();
const char* cudaGetErrorName(Error);
const char* cudaGetErrorString(Error);
}

namespace {

/// name -> number, as the toolkit's header lists them; empty without a toolkit.
std::map<std::string, int> toolkitErrors() {
  std::map<std::string, int> errors;
#ifdef KCHECK_CUDA_INCLUDE
  std::ifstream header(KCHECK_CUDA_INCLUDE "/driver_types.h");
  std::regex entry(R"(^\s*,?\s*(cuda(?:Success|Error\w+))\s*=\s*(\d+))");
  std::smatch match;
  for (std::string line; std::getline(header, line);)
    if (std::regex_search(line, match, entry)) errors[match[1]] = std::stoi(match[2]);
#endif
  return errors;
}

TEST(ErrorTable, HasEveryErrorOfTheToolkit) {
  std::map<std::string, int> errors = toolkitErrors();
  if (errors.empty()) GTEST_SKIP() << "no CUDA toolkit to compare with";
  EXPECT_GT(errors.size(), 130u);
  for (const auto& [name, number] : errors) {
    const char* ours = errorName(Error(number));
    EXPECT_TRUE(ours && name == ours) << name << " = " << number;
  }
}

TEST(ErrorTable, SaysTheSentencesThatProgramsPrint) {
  const std::pair<Error, const char*> known[] = {
      {Error::Success, "no error"},
      {Error::InvalidValue, "invalid argument"},
      {Error::MemoryAllocation, "out of memory"},
      {Error::InvalidConfiguration, "invalid configuration argument"},
      {Error::InvalidDeviceFunction, "invalid device function"},
      {Error::IllegalAddress, "an illegal memory access was encountered"},
      {Error::LaunchFailure, "unspecified launch failure"},
      {Error::Assert, "device-side assert triggered"},
      {Error::InvalidResourceHandle, "invalid resource handle"},
  };
  for (auto [error, text] : known) EXPECT_STREQ(cudaGetErrorString(error), text);
  EXPECT_STREQ(cudaGetErrorName(Error::Success), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorName(Error::InvalidValue), "cudaErrorInvalidValue");
  EXPECT_STREQ(cudaGetErrorName(Error(4711)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(Error(-1)), "unrecognized error code");
}

TEST(ErrorState, LastErrorIsKeptUntilItIsRead) {
  EXPECT_EQ(remember(Error::InvalidValue), Error::InvalidValue);
  EXPECT_EQ(remember(Error::Success), Error::Success); // a later success does not wash it off
  EXPECT_EQ(cudaPeekAtLastError(), Error::InvalidValue);
  EXPECT_EQ(cudaGetLastError(), Error::InvalidValue);
  EXPECT_EQ(cudaGetLastError(), Error::Success);
}

TEST(ErrorState, DeviceErrorSticksFromTheNextSynchronisationUntilReset) {
  raiseDeviceError(Error::Assert);
  raiseDeviceError(Error::IllegalAddress); // the first one stays
  EXPECT_EQ(call([] { return Error::Success; }), Error::Success) << "not seen before the host synchronises";
  EXPECT_EQ(deviceErrorAtSynchronisation(), Error::Assert);
  EXPECT_EQ(call([] { return Error::Success; }), Error::Assert);
  EXPECT_EQ(callAnyway([] { return Error::Success; }), Error::Success) << "of what needs no device";
  EXPECT_EQ(cudaGetLastError(), Error::Assert);
  EXPECT_EQ(cudaGetLastError(), Error::Success) << "told once, until the next call fails";
  EXPECT_EQ(call([] { return Error::Success; }), Error::Assert);
  clearDeviceError();
  EXPECT_EQ(call([] { return Error::Success; }), Error::Success);
  cudaGetLastError();
}

} // namespace
