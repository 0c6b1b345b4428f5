// Writes reports to stdout and files. See output.h.
#include "driver/output.h"

#include "report/report_writers.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unistd.h>

namespace kcheck::driver {
namespace {

bool wantsColour() {
  const char* noColour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(noColour && *noColour);
}

std::string text(const Report& report, const Output& output) {
  std::ostringstream out;
  switch (output.format) {
  case Format::Text: {
    DiskSourceReader source;
    writeText(report, {.source = &source, .colour = output.path.empty() && wantsColour()}, out);
    break;
  }
  case Format::Json: writeJson(report, out); break;
  }
  return out.str();
}

std::string temporaryNameFor(const std::string& path) { return fmt::format("{}.{}.tmp", path, getpid()); }

Error cannotWrite(const std::string& path) {
  return Error{fmt::format("{}: cannot be written: {}", path, std::strerror(errno))};
}

bool isSpecialFile(const std::string& path) {
  std::error_code error;
  auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

OrError<std::monostate> writeFile(const std::string& path, const std::string& content) {
  const std::string temporary =
      isSpecialFile(path) ? path : temporaryNameFor(path); // /dev/null and pipes as they are
  {
    std::ofstream file(temporary, std::ios::binary);
    file << content;
    file.flush();
    if (!file) {
      Error error = cannotWrite(path);
      if (temporary != path) unlink(temporary.c_str());
      return error;
    }
  }
  if (temporary != path && std::rename(temporary.c_str(), path.c_str()) != 0) {
    Error error = cannotWrite(path);
    unlink(temporary.c_str());
    return error;
  }
  return std::monostate{};
}

} // namespace

OrError<std::monostate> checkTemporaryFolder() {
  const char* set = std::getenv("TMPDIR");
  const std::string folder = set && *set ? set : "/tmp";
  const std::string probe = fmt::format("{}/kcheck-{}.probe", folder, getpid());
  std::ofstream file(probe, std::ios::binary);
  file << std::string(4096, ' ') << std::flush;
  const bool taken = file.good();
  const int why = errno;
  unlink(probe.c_str());
  if (taken) return std::monostate{};
  return Error{
      fmt::format("{}: temporary files cannot be written there: {}; set TMPDIR to a folder with room", folder,
                  std::strerror(why))};
}

OrError<std::monostate> checkOutputs(const std::vector<Output>& outputs) {
  for (const Output& output : outputs) {
    if (output.path.empty() || isSpecialFile(output.path)) continue;
    if (std::filesystem::is_directory(output.path))
      return Error{output.path + ": is a directory; name a file for -o"};
    const std::string probe = temporaryNameFor(output.path);
    errno = 0;
    if (!std::ofstream(probe, std::ios::binary)) return cannotWrite(output.path);
    unlink(probe.c_str());
  }
  return std::monostate{};
}

OrError<std::monostate> writeOutputs(const Report& report, const Options& options) {
  for (const Output& output : options.outputs) {
    const std::string content = text(report, output);
    if (!output.path.empty()) {
      if (auto written = writeFile(output.path, content); !written) return written;
    } else if (!(std::cout << content << std::flush)) {
      return Error{"the report could not be written to standard output"};
    }
  }
  return std::monostate{};
}

} // namespace kcheck::driver
