// cudaCreateChannelDesc<T>().
#pragma once

#include "driver_types.h"

#define __KCHECK_CHANNEL(type, count, kind)                                                                            \
  template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() {                                             \
    const int bits = int(8 * sizeof(type) / count);                                                                    \
    return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};                             \
  }
extern "C" cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f);
template <typename T> inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return {0, 0, 0, 0, cudaChannelFormatKindNone};
}
#define __KCHECK_CHANNELS(type, name, kind)                                                                            \
  __KCHECK_CHANNEL(type, 1, kind)                                                                                      \
  __KCHECK_CHANNEL(name##1, 1, kind)                                                                                   \
  __KCHECK_CHANNEL(name##2, 2, kind)                                                                                   \
  __KCHECK_CHANNEL(name##4, 4, kind)
__KCHECK_CHANNELS(signed char, char, cudaChannelFormatKindSigned)
__KCHECK_CHANNELS(unsigned char, uchar, cudaChannelFormatKindUnsigned)
__KCHECK_CHANNELS(short, short, cudaChannelFormatKindSigned)
__KCHECK_CHANNELS(unsigned short, ushort, cudaChannelFormatKindUnsigned)
__KCHECK_CHANNELS(int, int, cudaChannelFormatKindSigned)
__KCHECK_CHANNELS(unsigned int, uint, cudaChannelFormatKindUnsigned)
__KCHECK_CHANNELS(float, float, cudaChannelFormatKindFloat)
#undef __KCHECK_CHANNEL
#undef __KCHECK_CHANNELS
