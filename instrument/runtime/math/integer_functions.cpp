// Integer functions of device code: extrema, bit counting, partial products, averages.
#include "instrument/runtime/math/define.h"

#include <bit>
#include <cstdint>

namespace {

using Wide = long long;

template <class Integer> Integer reversed(Integer x) {
  Integer result = 0;
  for (unsigned i = 0; i < 8 * sizeof x; ++i, x >>= 1) result = Integer(result << 1) | (x & 1);
  return result;
}

/// The low 24 bits, sign-extended.
int low24(int x) { return int(unsigned(x) << 8) >> 8; }

unsigned selectBytes(unsigned x, unsigned y, unsigned selector) {
  std::uint64_t bytes = std::uint64_t(y) << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned pick = selector >> (4 * i) & 15;
    std::uint8_t byte = std::uint8_t(bytes >> (8 * (pick & 7)));
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0; // the sign, replicated
    result |= unsigned(byte) << (8 * i);
  }
  return result;
}

} // namespace

KC_MATH1(int, abs, x < 0 ? int(0u - unsigned(x)) : x)
KC_MATH1(long long, llabs, x < 0 ? Wide(0ull - std::uint64_t(x)) : x)
KC_MATH2(int, min, x < y ? x : y)
KC_MATH2(int, max, x > y ? x : y)
KC_MATH2(unsigned, umin, x < y ? x : y)
KC_MATH2(unsigned, umax, x > y ? x : y)
KC_MATH2(long long, llmin, x < y ? x : y)
KC_MATH2(long long, llmax, x > y ? x : y)
KC_MATH2(unsigned long long, ullmin, x < y ? x : y)
KC_MATH2(unsigned long long, ullmax, x > y ? x : y)
KC_MATH2(int, mulhi, int(Wide(x) * y >> 32))
KC_MATH2(unsigned, umulhi, unsigned(std::uint64_t(x) * y >> 32))
KC_MATH2(long long, mul64hi, Wide(static_cast<__int128>(x) * y >> 64))
KC_MATH2(unsigned long long, umul64hi, (unsigned long long)(static_cast<unsigned __int128>(x) * y >> 64))
KC_MATH2(int, mul24, int(Wide(low24(x)) * low24(y)))
KC_MATH2(unsigned, umul24, unsigned(std::uint64_t(x & 0xffffff) * (y & 0xffffff)))
KC_MATH2(int, hadd, int((Wide(x) + y) >> 1))
KC_MATH2(int, rhadd, int((Wide(x) + y + 1) >> 1))
KC_MATH2(unsigned, uhadd, unsigned((std::uint64_t(x) + y) >> 1))
KC_MATH2(unsigned, urhadd, unsigned((std::uint64_t(x) + y + 1) >> 1))
KC_MATH3(int, sad, int(unsigned(x > y ? unsigned(x) - unsigned(y) : unsigned(y) - unsigned(x)) + unsigned(z)))
KC_MATH3(unsigned, usad, (x > y ? x - y : y - x) + z)
KC_MATH3(int, byte_perm, int(selectBytes(unsigned(x), unsigned(y), unsigned(z) & 0x7777)))
KC_MATH3(int, prmt,
         int(selectBytes(unsigned(x), unsigned(y), unsigned(z)))) // the instruction: bit 3 asks for the sign
KC_MATH1(int, brev, int(reversed(std::uint32_t(x))))
KC_MATH1(long long, brevll, Wide(reversed(std::uint64_t(x))))

extern "C" {

int __nv_clz(int x) { return std::countl_zero(std::uint32_t(x)); }
int __nv_clzll(long long x) { return std::countl_zero(std::uint64_t(x)); }
int __nv_ffs(int x) { return x ? std::countr_zero(std::uint32_t(x)) + 1 : 0; }
int __nv_ffsll(long long x) { return x ? std::countr_zero(std::uint64_t(x)) + 1 : 0; }
int __nv_popc(unsigned x) { return std::popcount(x); }
int __nv_popcll(unsigned long long x) { return std::popcount(x); }

} // extern "C"
