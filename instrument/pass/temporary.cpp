#include "instrument/pass/temporary.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace kcheck::instrument {

OrError<TemporaryFolder> TemporaryFolder::make() {
  const char* where = std::getenv("TMPDIR");
  std::string parent = where && *where ? where : "/tmp";
  std::string pattern = parent + "/kcheck-XXXXXX";
  if (!mkdtemp(pattern.data()))
    return Error{
        fmt::format("cannot make a temporary folder in {}: {}; set TMPDIR to a folder that can be written",
                    parent, std::strerror(errno))};
  return TemporaryFolder(pattern);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : folder(std::move(other.folder)) {
  other.folder.clear();
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

OrError<std::monostate> writeFile(const std::string& path, const std::string& content) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(content.data(), std::streamsize(content.size()));
  stream.close();
  if (stream) return std::monostate{};
  int reason = errno;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return Error{fmt::format("cannot write {}: {}; set TMPDIR to a folder with room", path,
                           reason ? std::strerror(reason) : "write error")};
}

} // namespace kcheck::instrument
