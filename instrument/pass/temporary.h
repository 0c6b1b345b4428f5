// A folder for the files of one run; gone when the object goes, whatever happened between.
#pragma once

#include "report/error.h"

#include <string>
#include <variant>

namespace kcheck::instrument {

class TemporaryFolder {
public:
  /// Below $TMPDIR, or /tmp.
  static OrError<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return folder; }

private:
  explicit TemporaryFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

OrError<std::monostate> writeFile(const std::string& path, const std::string& content);

} // namespace kcheck::instrument
