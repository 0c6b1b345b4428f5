#include "instrument/runtime/core/log.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kcheck::runtime {
namespace {

/// The file that kcheck has left open for us; without one the log is private and nobody reads it.
void* mapLog() {
  int descriptor = -1;
  if (const char* number = std::getenv(wire::kDescriptorVariable))
    std::from_chars(number, number + std::strlen(number), descriptor);
  if (descriptor >= 0 && ftruncate(descriptor, wire::kCapacity) == 0) {
    void* shared = mmap(nullptr, wire::kCapacity, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (shared != MAP_FAILED) return shared;
  }
  void* own = mmap(nullptr, wire::kCapacity, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (own == MAP_FAILED) std::abort();
  return own;
}

/// Where the program's own code lies, so that return addresses can be named later.
void addImages(Log& log) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        Log& log = *static_cast<Log*>(data);
        auto* image = log.reserve<wire::Image>();
        if (!image) return 1;
        image->base = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          std::uint64_t end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
          if (end > image->end) image->end = end;
        }
        char own[4096];
        ssize_t length = info->dlpi_name[0] ? 0 : readlink("/proc/self/exe", own, sizeof own);
        image->path =
            length > 0 ? log.addText({own, static_cast<std::size_t>(length)}) : log.addText(info->dlpi_name);
        Log::complete(image->head, wire::RecordKind::Image);
        return 0;
      },
      &log);
}

} // namespace

Log::Log() : base(static_cast<std::byte*>(mapLog())), head(reinterpret_cast<wire::Header*>(base)) {
  if (head->magic == wire::kMagic) return; // a forked or second process of the same run goes on with the log
  new (head) wire::Header{};
  head->version = wire::kVersion;
  head->used = (sizeof(wire::Header) + 7) & ~std::uint64_t{7};
  head->magic = wire::kMagic;
  addImages(*this);
}

void* Log::reserveBytes(std::uint64_t bytes) {
  bytes = (bytes + 7) & ~std::uint64_t{7};
  std::uint64_t place = head->used.load();
  do {
    if (place + bytes > wire::kCapacity) {
      head->truncated = 1;
      return nullptr;
    }
  } while (!head->used.compare_exchange_weak(place, place + bytes));
  std::byte* room = base + place;
  reinterpret_cast<wire::Record*>(room)->bytes = static_cast<std::uint32_t>(bytes);
  return room;
}

void Log::complete(wire::Record& record, wire::RecordKind kind) {
  std::atomic_ref(record.kind).store(static_cast<std::uint32_t>(kind), std::memory_order_release);
}

wire::TextRef Log::addText(std::string_view string) {
  void* room = reserveBytes(sizeof(wire::Record) + string.size() + 1);
  if (!room) return 0;
  auto* record = static_cast<wire::Record*>(room);
  std::memcpy(record + 1, string.data(), string.size());
  complete(*record, wire::RecordKind::String);
  return static_cast<wire::TextRef>((static_cast<std::byte*>(room) - base) / 8);
}

Log& log() {
  static Log* instance = new Log;
  return *instance;
}

} // namespace kcheck::runtime
