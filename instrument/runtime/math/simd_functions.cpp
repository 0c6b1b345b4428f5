// SIMD-in-a-word functions of device code: two halfwords or four bytes per 32-bit word, lane by lane.
#include <algorithm>
#include <cstdint>
#include <limits>

namespace {

template <class Lane> constexpr unsigned kBits = 8 * sizeof(Lane);
template <class Lane> constexpr unsigned kMask = (1u << kBits<Lane>)-1;

template <class Lane> int lane(int word, unsigned index) {
  return Lane(unsigned(word) >> (index * kBits<Lane>));
}

/// operation(a, b) of each pair of lanes, kept to the lane's bits.
template <class Lane, class Operation> int lanes(int a, int b, Operation operation) {
  unsigned result = 0;
  for (unsigned i = 0; i < 32 / kBits<Lane>; ++i)
    result |= (unsigned(operation(lane<Lane>(a, i), lane<Lane>(b, i))) & kMask<Lane>) << (i * kBits<Lane>);
  return int(result);
}

template <class Lane> int sumOfDifferences(int a, int b) {
  int sum = 0;
  for (unsigned i = 0; i < 32 / kBits<Lane>; ++i) {
    int difference = lane<Lane>(a, i) - lane<Lane>(b, i);
    sum += difference < 0 ? -difference : difference;
  }
  return sum;
}

template <class Lane> int saturated(int x) {
  return std::clamp(x, int(std::numeric_limits<Lane>::min()), int(std::numeric_limits<Lane>::max()));
}

int difference(int a, int b) { return a > b ? a - b : b - a; }
/// Rounded half away from zero below zero, up above.
int signedAverage(int a, int b) { return a + b < 0 ? (a + b) >> 1 : (a + b + 1) >> 1; }

} // namespace

#define KC_LANES1(name, Lane, expression)                                                                    \
  extern "C" int __nv_##name(int word) {                                                                     \
    return lanes<Lane>(word, 0, [](int a, int) -> int { return expression; });                               \
  }
#define KC_LANES2(name, Lane, expression)                                                                    \
  extern "C" int __nv_##name(int x, int y) {                                                                 \
    return lanes<Lane>(x, y, [](int a, int b) -> int { return expression; });                                \
  }
// A comparison comes as a mask of ones (vcmp) and as the number one (vset).
#define KC_COMPARE(name, count, Lane, expression)                                                            \
  KC_LANES2(vcmp##name##count, Lane, (expression) ? -1 : 0)                                                  \
  KC_LANES2(vset##name##count, Lane, (expression) ? 1 : 0)

#define KC_WIDTH(count, Signed, Unsigned)                                                                    \
  KC_LANES1(vabs##count, Signed, a < 0 ? -a : a)                                                             \
  KC_LANES1(vabsss##count, Signed, saturated<Signed>(a < 0 ? -a : a))                                        \
  KC_LANES1(vneg##count, Signed, -a)                                                                         \
  KC_LANES1(vnegss##count, Signed, saturated<Signed>(-a))                                                    \
  KC_LANES2(vabsdiffs##count, Signed, difference(a, b))                                                      \
  KC_LANES2(vabsdiffu##count, Unsigned, difference(a, b))                                                    \
  KC_LANES2(vadd##count, Unsigned, a + b)                                                                    \
  KC_LANES2(vaddss##count, Signed, saturated<Signed>(a + b))                                                 \
  KC_LANES2(vaddus##count, Unsigned, saturated<Unsigned>(a + b))                                             \
  KC_LANES2(vsub##count, Unsigned, a - b)                                                                    \
  KC_LANES2(vsubss##count, Signed, saturated<Signed>(a - b))                                                 \
  KC_LANES2(vsubus##count, Unsigned, saturated<Unsigned>(a - b))                                             \
  KC_LANES2(vavgs##count, Signed, signedAverage(a, b))                                                       \
  KC_LANES2(vavgu##count, Unsigned, (a + b + 1) >> 1)                                                        \
  KC_LANES2(vhaddu##count, Unsigned, (a + b) >> 1)                                                           \
  KC_LANES2(vmaxs##count, Signed, a > b ? a : b)                                                             \
  KC_LANES2(vmaxu##count, Unsigned, a > b ? a : b)                                                           \
  KC_LANES2(vmins##count, Signed, a < b ? a : b)                                                             \
  KC_LANES2(vminu##count, Unsigned, a < b ? a : b)                                                           \
  KC_COMPARE(eq, count, Unsigned, a == b)                                                                    \
  KC_COMPARE(ne, count, Unsigned, a != b)                                                                    \
  KC_COMPARE(ges, count, Signed, a >= b)                                                                     \
  KC_COMPARE(geu, count, Unsigned, a >= b)                                                                   \
  KC_COMPARE(gts, count, Signed, a > b)                                                                      \
  KC_COMPARE(gtu, count, Unsigned, a > b)                                                                    \
  KC_COMPARE(les, count, Signed, a <= b)                                                                     \
  KC_COMPARE(leu, count, Unsigned, a <= b)                                                                   \
  KC_COMPARE(lts, count, Signed, a < b)                                                                      \
  KC_COMPARE(ltu, count, Unsigned, a < b)                                                                    \
  extern "C" int __nv_vsads##count(int x, int y) { return sumOfDifferences<Signed>(x, y); }                  \
  extern "C" int __nv_vsadu##count(int x, int y) { return sumOfDifferences<Unsigned>(x, y); }
KC_WIDTH(2, std::int16_t, std::uint16_t)
KC_WIDTH(4, std::int8_t, std::uint8_t)
