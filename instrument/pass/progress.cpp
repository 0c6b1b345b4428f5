#include "instrument/pass/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kcheck::instrument {

namespace {

// The line stands behind what the program has written, and the cursor goes back in front of it: what the
// program writes next takes its place. It never wraps, so the place stays where it was.
constexpr const char *kBefore = "\0337\033[?7l", *kAfter = "\033[K\033[?7h\0338", *kErase = "\033[K";

std::size_t columnsOf(int terminal) {
  constexpr std::size_t usual = 80;
  winsize size{};
  return ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : usual;
}

/// Without what could move the cursor.
std::string printable(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
  return text;
}

} // namespace

Progress::Progress(int descriptor, int terminal, std::chrono::milliseconds quiet)
    : terminal(terminal), start(std::chrono::steady_clock::now()), quiet(quiet), moved(start) {
  if (!isatty(terminal)) return;
  void* mapped = mmap(nullptr, wire::kCapacity, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapped != MAP_FAILED) log = static_cast<const std::byte*>(mapped);
}

Progress::~Progress() {
  erase();
  if (log) munmap(const_cast<std::byte*>(log), wire::kCapacity);
}

std::string Progress::kernelName(wire::TextRef reference) const {
  std::uint64_t at = std::uint64_t{reference} * 8;
  if (at + sizeof(wire::Record) > wire::kCapacity) return "";
  const auto& record = *reinterpret_cast<const wire::Record*>(log + at);
  std::uint64_t end = std::min<std::uint64_t>(at + record.bytes, wire::kCapacity);
  const char* text = reinterpret_cast<const char*>(&record + 1);
  const char* last = reinterpret_cast<const char*>(log + end);
  return text < last ? printable(std::string(text, std::find(text, last, '\0'))) : "";
}

void Progress::tellPlaces(std::function<unsigned(std::uint32_t)> lineOfSite,
                          std::chrono::milliseconds stillFor) {
  lineOf = std::move(lineOfSite);
  still = stillFor;
}

std::string Progress::placeWhereStill(const wire::Header& header) {
  const auto now = std::chrono::steady_clock::now();
  if (header.blocksDone != doneBefore || header.runningKernel != kernelBefore) {
    doneBefore = header.blocksDone;
    kernelBefore = header.runningKernel;
    moved = now;
  }
  const std::uint32_t site = header.runningSite;
  if (!lineOf || site == wire::kNoSite || now - moved < still) return "";
  const unsigned at = lineOf(site);
  return at ? fmt::format(", still at line {}", at) : "";
}

std::string Progress::line() {
  const auto& header = *reinterpret_cast<const wire::Header*>(log);
  wire::TextRef kernel = header.runningKernel;
  if (header.magic != wire::kMagic || !kernel) return "";
  std::uint32_t findings = header.findings;
  std::string rest = fmt::format(": {} of {} blocks{}, {} finding{}{}", header.blocksDone.load(),
                                 header.blocks.load(), header.rehearses ? " in another order" : "", findings,
                                 findings == 1 ? "" : "s", placeWhereStill(header));
  std::string name = kernelName(kernel);
  constexpr std::size_t fewest = 8;
  std::size_t columns = columnsOf(terminal), room = columns > rest.size() ? columns - rest.size() - 1 : 0;
  if (name.size() > std::max(room, fewest)) name = name.substr(0, std::max(room, fewest) - 3) + "...";
  return (name + rest).substr(0, columns);
}

void Progress::draw(const std::string& text) const {
  // Where the terminal cannot be written to, there is nothing to show.
  if (write(terminal, text.data(), text.size()) < 0) return;
}

void Progress::show() {
  if (!log || std::chrono::steady_clock::now() - start < quiet) return;
  std::string text = line();
  if (text.empty()) return erase();
  draw(kBefore + text + kAfter);
  drawn = true;
}

void Progress::erase() {
  if (drawn) draw(kErase);
  drawn = false;
}

} // namespace kcheck::instrument
