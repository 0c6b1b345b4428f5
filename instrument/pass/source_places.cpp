#include "instrument/pass/source_places.h"

#include "instrument/pass/shipped_headers.h"

#include <filesystem>

namespace kcheck::instrument {

/// Debug info names files by absolute path; a report names them as the user did, or from the current folder.
static std::string asUserNames(const std::string& path, const Facts& facts) {
  std::error_code none;
  for (const std::string& file : facts.files)
    if (std::filesystem::equivalent(path, file, none)) return file;
  const std::string folder = std::filesystem::current_path(none).string() + "/";
  return path.starts_with(folder) ? path.substr(folder.size()) : path;
}

/// The innermost frame in the user's own code: templates of the toolkit's headers are inlined into it.
static Location userPlace(const llvm::DIInliningInfo& frames) {
  Location innermost;
  for (std::uint32_t i = 0; i < frames.getNumberOfFrames(); ++i) {
    const llvm::DILineInfo& frame = frames.getFrame(i);
    if (frame.Line == 0 || frame.FileName == llvm::DILineInfo::BadString) continue;
    Location here{frame.FileName, frame.Line, frame.Column, 0};
    const llvm::StringRef file = frame.FileName;
    bool toolkit = (file.contains("/include/") && file.starts_with("/")) || isShippedHeader(file);
    if (!toolkit) return here;
    if (!innermost.known()) innermost = here;
  }
  return innermost;
}

Location SourcePlaces::of(const std::string& program, std::uint64_t offset) {
  auto frames =
      symboliser.symbolizeInlinedCode(program, {offset, llvm::object::SectionedAddress::UndefSection});
  if (!frames) {
    llvm::consumeError(frames.takeError());
    return {};
  }
  Location place = userPlace(*frames);
  place.file = asUserNames(place.file, facts);
  return place;
}

} // namespace kcheck::instrument
