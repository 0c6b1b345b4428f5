// What the main of a launch line uses to fill its arrays. Deterministic: the same values in every run. It is compiled
// behind the program's text, whose macros may have any name that is not reserved: it uses no other, and no headers.
#pragma once
#pragma GCC system_header

extern "C" void kcLaunchesMeet(); // the runtime's: kernels with a grid barrier are launched cooperatively

enum class __kcContent { __kcPattern, __kcZero, __kcIota, __kcRandom, __kcMixed, __kcValue };

inline bool __kcIsNumber(const char* __kcText, unsigned __kcNumber) {
  unsigned __kcRead = 0;
  for (; __kcText && *__kcText; ++__kcText) __kcRead = __kcRead * 10 + unsigned(*__kcText - '0');
  return __kcRead == __kcNumber;
}

template <bool, typename> struct __kcNumberOr {
  typedef unsigned char __kcType;
};
template <typename __kcT> struct __kcNumberOr<true, __kcT> {
  typedef __kcT __kcType;
};
template <typename __kcT> struct __kcPlain {
  typedef __kcT __kcType;
};
template <typename __kcT> struct __kcPlain<__kcT&> {
  typedef __kcT __kcType;
};
template <typename...> using __kcVoid = void;

/// Elements of vector types and records are filled by their first member's type when they have an `x`, else as bytes.
template <typename __kcT, typename = void> struct __kcLane {
  typedef typename __kcNumberOr<__is_arithmetic(__kcT), __kcT>::__kcType __kcType;
};
#pragma push_macro("x")
#undef x
template <typename __kcT> struct __kcLane<__kcT, __kcVoid<decltype(__kcT::x)>> {
  typedef typename __kcPlain<decltype(__kcT::x)>::__kcType __kcX;
  typedef typename __kcNumberOr<__is_arithmetic(__kcX), __kcX>::__kcType __kcType;
};
#pragma pop_macro("x")

template <typename __kcT>
__kcT __kcElement(unsigned long __kcI, __kcContent __kcWhat, unsigned long long& __kcSeed) {
  switch (__kcWhat) {
  case __kcContent::__kcZero: return __kcT(0);
  case __kcContent::__kcIota: return __kcT(__kcI);
  case __kcContent::__kcMixed: // arrays do not go in step
    return __kcT((__kcI / (1 + __kcSeed % 5) + __kcSeed) % 4);
  case __kcContent::__kcRandom:
    __kcSeed ^= __kcSeed << 13;
    __kcSeed ^= __kcSeed >> 7;
    __kcSeed ^= __kcSeed << 17;
    if (__is_floating_point(__kcT)) return __kcT(double(__kcSeed >> 11) / double(1ull << 53));
    return __kcT(__kcSeed >> 33);
  default: return __kcT(1 + __kcI % 7);
  }
}

/// One of the given values in each element, in turn.
template <typename __kcT, typename... __kcV>
void __kcFillAny(__kcT* __kcArray, unsigned long __kcCount, unsigned long __kcFirst, __kcV... __kcGiven) {
  typedef typename __kcLane<__kcT>::__kcType __kcOne;
  const __kcOne __kcValues[] = {__kcOne(__kcGiven)...};
  const unsigned long __kcBytes = __kcCount * sizeof(__kcT), __kcLanes = __kcBytes / sizeof(__kcOne);
  __kcOne* __kcStaged = static_cast<__kcOne*>(__builtin_calloc(__kcCount + 1, sizeof(__kcT)));
  for (unsigned long __kcI = 0; __kcI < __kcLanes; ++__kcI)
    __kcStaged[__kcI] = __kcValues[(__kcI + __kcFirst) % sizeof...(__kcGiven)];
  cudaMemcpy(__kcArray, __kcStaged, __kcBytes, cudaMemcpyHostToDevice);
  __builtin_free(__kcStaged);
}

template <typename __kcT, typename __kcV>
void __kcFill(__kcT* __kcArray, unsigned long __kcCount, __kcContent __kcWhat, __kcV __kcGiven) {
  typedef typename __kcLane<__kcT>::__kcType __kcOne;
  const unsigned long __kcBytes = __kcCount * sizeof(__kcT), __kcLanes = __kcBytes / sizeof(__kcOne);
  void* __kcStaged = __builtin_calloc(__kcCount + 1, sizeof(__kcT));
  unsigned long long __kcSeed =
      __kcWhat == __kcContent::__kcMixed ? (unsigned long long)(__kcGiven) : 88172645463325252ull;
  __kcOne* __kcAt = static_cast<__kcOne*>(__kcStaged);
  for (unsigned long __kcI = 0; __kcI < __kcLanes; ++__kcI)
    __kcAt[__kcI] = __kcWhat == __kcContent::__kcValue ? __kcOne(__kcGiven)
                                                       : __kcElement<__kcOne>(__kcI, __kcWhat, __kcSeed);
  cudaMemcpy(__kcArray, __kcStaged, __kcBytes, cudaMemcpyHostToDevice);
  __builtin_free(__kcStaged);
}
