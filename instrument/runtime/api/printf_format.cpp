// Formats the packed arguments of a kernel's printf, one conversion at a time through the host's snprintf.
#include "instrument/runtime/api/printf_format.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace kcheck::runtime::api {
namespace {

/// Reads arguments in order.
class Arguments {
public:
  explicit Arguments(const void* packed) : next_(static_cast<const std::byte*>(packed)) {}

  template <class Value> Value take() {
    auto address = reinterpret_cast<std::uintptr_t>(next_);
    address = (address + alignof(Value) - 1) / alignof(Value) * alignof(Value);
    Value value;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    next_ = reinterpret_cast<const std::byte*>(address) + sizeof value;
    ++count_;
    return value;
  }
  int count() const { return count_; }

private:
  const std::byte* next_;
  int count_ = 0;
};

/// One `%...x` of a format.
struct Conversion {
  std::string flags; ///< flags, width and precision, with every * replaced
  std::string length;
  char kind = 0;
};

void appendNumber(std::string& flags, Arguments& arguments) {
  flags += std::to_string(arguments.take<int>());
}

/// `at` stands behind the %; it is moved behind the conversion. A star takes an argument.
Conversion parse(const char*& at, Arguments& arguments) {
  Conversion conversion;
  while (*at && std::strchr("-+ #0123456789.*", *at)) {
    if (*at == '*')
      appendNumber(conversion.flags, arguments);
    else
      conversion.flags += *at;
    ++at;
  }
  while (*at && std::strchr("hljztL", *at)) conversion.length += *at++;
  if (*at) conversion.kind = *at++;
  return conversion;
}

template <class Value> void append(std::string& out, const std::string& format, Value value) {
  char small[128];
  int length = std::snprintf(small, sizeof small, format.c_str(), value);
  if (length < 0) return;
  if (std::size_t(length) < sizeof small) {
    out.append(small, std::size_t(length));
    return;
  }
  std::string large(std::size_t(length) + 1, '\0');
  std::snprintf(large.data(), large.size(), format.c_str(), value);
  out.append(large, 0, std::size_t(length));
}

bool isWide(const std::string& length) { return length.find_first_of("ljzt") != std::string::npos; }

void convert(std::string& out, const Conversion& conversion, Arguments& arguments) {
  std::string prefix = "%" + conversion.flags;
  switch (conversion.kind) {
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o':
    // Narrow types arrive as int; h and hh narrow them when they are printed.
    if (isWide(conversion.length))
      append(out, prefix + "ll" + conversion.kind, arguments.take<long long>());
    else
      append(out, prefix + conversion.length + conversion.kind, arguments.take<int>());
    return;
  case 'c': append(out, prefix + 'c', arguments.take<int>()); return;
  case 'f':
  case 'F':
  case 'e':
  case 'E':
  case 'g':
  case 'G':
  case 'a':
  case 'A': append(out, prefix + conversion.kind, arguments.take<double>()); return;
  case 's': {
    const char* string = arguments.take<const char*>();
    append(out, prefix + 's', string ? string : "(null)");
    return;
  }
  case 'p': append(out, prefix + 'p', arguments.take<const void*>()); return;
  default: // unknown: printed as it stands
    out += '%' + conversion.flags + conversion.length;
    if (conversion.kind) out += conversion.kind;
  }
}

} // namespace

int formatPacked(std::string& out, const char* format, const void* packed) {
  if (!format) return -1;
  Arguments arguments(packed);
  for (const char* at = format; *at;) {
    if (*at != '%') {
      const char* next = std::strchr(at, '%');
      std::size_t length = next ? std::size_t(next - at) : std::strlen(at);
      out.append(at, length);
      at += length;
    } else if (at[1] == '%') {
      out += '%';
      at += 2;
    } else {
      convert(out, parse(++at, arguments), arguments);
    }
  }
  return arguments.count();
}

} // namespace kcheck::runtime::api
