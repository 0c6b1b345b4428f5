#include "instrument/pass/temporary.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kcheck::instrument {

namespace {

constexpr const char* kPrefix = "kcheck-";

/// Opens a folder and locks it, as long as this process lives and keeps it open; -1 where another one has it.
int hold(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

/// What killed processes have left there: this user's, untouched for a while, and nobody holds it.
void clearAbandoned(const std::string& parent) {
  constexpr std::time_t kQuiet = 600; // seconds; far longer than from making a folder to locking it
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(parent, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(kPrefix) || name.size() != std::strlen(kPrefix) + 6) continue;
    const int held = hold(entry->path());
    struct stat about{};
    const bool abandoned = held >= 0 && fstat(held, &about) == 0 && about.st_uid == geteuid() &&
                           about.st_mtime + kQuiet < std::time(nullptr);
    std::error_code failed;
    if (abandoned) std::filesystem::remove_all(entry->path(), failed);
    if (held >= 0) close(held);
  }
}

} // namespace

OrError<TemporaryFolder> TemporaryFolder::make() {
  const char* where = std::getenv("TMPDIR");
  std::string parent = where && *where ? where : "/tmp";
  clearAbandoned(parent);
  std::string pattern = parent + "/" + kPrefix + "XXXXXX";
  if (!mkdtemp(pattern.data()))
    return Error{
        fmt::format("cannot make a temporary folder in {}: {}; set TMPDIR to a folder that can be written",
                    parent, std::strerror(errno))};
  return TemporaryFolder(pattern, hold(pattern));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : folder(std::move(other.folder)), held(std::exchange(other.held, -1)) {
  other.folder.clear();
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (held >= 0) close(held);
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
