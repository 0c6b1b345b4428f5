// A folder for the files of one run; gone when the object goes, whatever happened between. Of a kcheck that
// was killed, the next one clears it away.
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
  TemporaryFolder(std::string folder, int held) : folder(std::move(folder)), held(held) {}
  std::string folder;
  int held = -1; ///< the folder itself, locked: in use
};

OrError<std::monostate> writeFile(const std::string& path, const std::string& content);

} // namespace kcheck::instrument
