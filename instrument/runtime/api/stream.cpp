// The stream table, and the order between the legacy default stream and the others.
#include "instrument/runtime/api/stream.h"

#include "instrument/runtime/api/later.h"
#include "instrument/runtime/api/services.h"
#include "instrument/runtime/core/launch.h"

namespace kcheck::runtime::api {

using cuda::Event;
using cuda::Stream;

StreamTable& streamTable() {
  static StreamTable* table = new StreamTable; // outlives every exit handler
  return *table;
}

namespace {

Stream& perThreadStream() {
  thread_local Stream* stream = nullptr;
  if (!stream) {
    auto own = std::make_unique<Stream>();
    own->id = newId();
    stream = streamTable().streams.add(std::move(own));
  }
  return *stream;
}

} // namespace

std::uint64_t newId() { return streamTable().nextId++; }

Stream* resolve(cuda::StreamHandle handle) {
  auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value == 0) value = streamTable().zeroIsPerThread ? cuda::kPerThreadStream : cuda::kLegacyStream;
  if (value == cuda::kLegacyStream) return &streamTable().legacy;
  if (value == cuda::kPerThreadStream) return &perThreadStream();
  return streamTable().streams.contains(handle) ? handle : nullptr;
}

Event* resolve(Event* handle) { return handle && streamTable().events.contains(handle) ? handle : nullptr; }

void orderWithLegacy(Stream& stream) {
  StreamTable& table = streamTable();
  Stream& legacy = table.legacy;
  std::lock_guard lock(table.order);
  auto edge = [](Stream& before, Stream& after) {
    if (before.marker == 0) before.marker = newId();
    eventRecorded(before.marker, before.id);
    streamWaits(after.id, before.marker);
  };
  if (&stream == &legacy) {
    table.streams.forEach([&](Stream& other) {
      if (!other.blocking() || other.seenByLegacy == other.operations) return;
      edge(other, legacy);
      other.seenByLegacy = other.operations;
    });
  } else if (stream.blocking() && stream.legacySeen != legacy.operations) {
    edge(legacy, stream);
    stream.legacySeen = legacy.operations;
  }
  ++stream.operations;
}

void hostWaitsFor(Stream& stream) {
  waitFor(stream);
  if (&stream == &streamTable().legacy)
    orderWithLegacy(stream); // waiting for the legacy stream waits for the blocking streams as well
  streamSynchronized(stream.id);
  flushPrintf();
}

void record(Event& event, Stream& stream) {
  orderWithLegacy(stream);
  event.recorded = true;
  event.asked = false;
  event.when = std::chrono::steady_clock::now();
  eventRecorded(event.id, stream.id);
}

} // namespace kcheck::runtime::api
