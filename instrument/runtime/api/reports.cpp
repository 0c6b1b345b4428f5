// Hands what the API layer finds to the log of events.
#include "instrument/runtime/api/reports.h"

#include "instrument/runtime/core/events.h"

#include <string>

namespace kcheck::runtime::api {

void reportBadFree(const void* pointer, const char* function, const char* reason, void* caller) {
  HostEvent event{.rule = wire::Rule::BadFree, .caller = caller};
  std::string message = std::string(function) + " cannot free this pointer: " + reason;
  event.message = message.c_str();
  event.pointer = pointer;
  reportHostEvent(event);
}

void reportInvalidLaunch(const char* kernel, const char* reason, void* caller) {
  HostEvent event{.rule = wire::Rule::InvalidLaunch, .caller = caller};
  std::string message = std::string("the kernel did not run: ") + reason;
  event.message = message.c_str();
  event.kernel = kernel;
  reportHostEvent(event);
}

void reportUncheckedError(const char* kernel, const char* errorName, const char* errorText, void* caller) {
  HostEvent event{.rule = wire::Rule::UncheckedError, .caller = caller, .isOfCall = !kernel};
  std::string message = std::string(kernel ? "the launch" : "") + " failed with " + errorName + " (" +
                        errorText + "), and the program never asked for the error";
  event.message = message.c_str() + (kernel ? 0 : 1); // the call's name comes before
  event.hint = kernel ? "call cudaGetLastError() after the launch and check its result"
                      : "look at what the call returns";
  event.kernel = kernel;
  reportHostEvent(event);
}

void reportUnwrittenOutput(const void* pointer, std::size_t bytes, std::size_t first, void* caller) {
  reportUnwritten(pointer, bytes, first, caller);
}

void reportWrongSpace(const void* pointer, const char* function, const char* reason, void* caller) {
  HostEvent event{.rule = wire::Rule::WrongSpace, .caller = caller};
  std::string message = std::string(function) + " got a pointer of the wrong side: " + reason;
  event.message = message.c_str();
  event.pointer = pointer;
  reportHostEvent(event);
}

void reportBadRange(const void* pointer, std::size_t bytes, bool write, const char* function, void* caller) {
  const Allocation* allocation = find(pointer);
  bool freed = allocation && !allocation->live;
  HostEvent event{.rule = freed ? wire::Rule::UseAfterFree : wire::Rule::OutOfBounds, .caller = caller};
  std::string message = std::string(function) + (write ? " writes " : " reads ") + std::to_string(bytes) +
                        " bytes " + (freed ? "of memory that was freed" : "and leaves the allocation");
  event.message = message.c_str();
  event.pointer = pointer;
  event.bytes = bytes;
  reportHostEvent(event);
}

void reportBadSymbolRange(const void* variable, std::size_t size, std::size_t offset, std::size_t bytes,
                          bool write, const char* function, void* caller) {
  HostEvent event{.rule = wire::Rule::OutOfBounds, .caller = caller};
  std::string from = offset ? " from byte " + std::to_string(offset) + " on" : "";
  std::string message = std::string(function) + (write ? " writes " : " reads ") + std::to_string(bytes) +
                        (bytes == 1 ? " byte" : " bytes") + from + " of a variable that has " +
                        std::to_string(size) + ", so it fails and copies nothing";
  event.message = message.c_str();
  event.pointer = variable;
  reportHostEvent(event);
}

void reportUnseenPrint(const char* kernel, void* caller) {
  HostEvent event{.rule = wire::Rule::RaceHost, .caller = caller};
  event.message = "prints";
  event.kernel = kernel;
  reportHostEvent(event);
}

void reportBadHostRange(std::size_t bytes, std::size_t room, bool write, const char* function, void* caller) {
  HostEvent event{.rule = wire::Rule::OutOfBounds, .caller = caller};
  const std::string message =
      std::string(function) + (write ? " writes " : " reads ") + std::to_string(bytes) +
      " bytes of host memory, but the block of malloc or new ends after " + std::to_string(room) + " of them";
  event.message = message.c_str();
  event.hint = "the count is in bytes, and both sides need as many";
  reportHostEvent(event);
}

void reportNoDevice(int device, void* caller) {
  HostEvent event{.rule = wire::Rule::UncheckedError, .caller = caller};
  const std::string message =
      "there is no device " + std::to_string(device) + " in this run, and the program stays on device 0";
  event.message = message.c_str();
  event.hint = "cudaGetDeviceCount() says how many devices there are: here one";
  reportHostEvent(event);
}

void reportUnsupported(const char* feature, void* caller) {
  HostEvent event{.rule = wire::Rule::Unsupported, .caller = caller};
  event.message = feature;
  reportHostEvent(event);
}

} // namespace kcheck::runtime::api
