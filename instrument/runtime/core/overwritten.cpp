#include "instrument/runtime/core/overwritten.h"

namespace kcheck::runtime {

std::uint32_t maskOf(unsigned bytes) {
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (bytes >> i & 1) mask |= 0xFFu << 8 * i;
  return mask;
}

void noteOverwritten(Address word, Token token, std::uint16_t site, std::uint32_t value, unsigned bytes) {
  Overwritten& known = overwrittenOf(word);
  if (known.token != token) {
    known = {token, {site, site}, {value, 0}, bytes};
    return;
  }
  const bool isSame = (known.bytesOf(0) & bytes) == bytes && !((known.value[0] ^ value) & maskOf(bytes));
  if (isSame || known.bytesOf(1)) return;
  known.site[1] = site;
  known.value[1] = value;
  known.bytes |= bytes << 4;
}

} // namespace kcheck::runtime
