// Surface functions, which clang's CUDA headers lack: each describes its access in one word (instrument/abi.h) and
// leaves the rest to the runtime.
#pragma once
#pragma GCC system_header

#if defined(__SURFACE_TYPES_H__) || defined(__CUDA_RUNTIME_H__)

extern "C" __attribute__((device)) void __kcheck_surface(unsigned long long object, unsigned operation,
                                                         const void* words, void* data);

namespace kcheck_surface {

enum Geometry : unsigned { Line, Plane, Volume, LineArray, PlaneArray };

/// geometry | store | log2(element bytes) << 5 | log2(elements) << 7 | boundary << 9
template <class T> __attribute__((device)) constexpr unsigned operation(Geometry geometry, bool store, int mode) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "surface elements have 1, 2, 4, 8 or 16 bytes");
  return geometry | (store ? 16u : 0u) |
         (sizeof(T) == 1   ? 0u
          : sizeof(T) == 2 ? 1u
          : sizeof(T) == 4 ? 2u
                           : 3u)
             << 5 |
         (sizeof(T) == 16 ? 1u : 0u) << 7 | unsigned(2 - mode) << 9;
}

} // namespace kcheck_surface

// NAME(coordinates...) in three forms; WORDS are the coordinates in the order of the runtime, the layer first.
#define __KCHECK_SURFACE(name, geometry, parameters, words)                                                            \
  template <class T>                                                                                                   \
  static __attribute__((device)) void name##write(                                                                     \
      T value, cudaSurfaceObject_t object, __KCHECK_LIST parameters,                                                   \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                                           \
    const int place[] = {__KCHECK_LIST words};                                                                         \
    __kcheck_surface(object, kcheck_surface::operation<T>(kcheck_surface::geometry, true, mode), place, &value);       \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  static __attribute__((device)) T name##read(cudaSurfaceObject_t object, __KCHECK_LIST parameters,                    \
                                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                   \
    const int place[] = {__KCHECK_LIST words};                                                                         \
    T value;                                                                                                           \
    __kcheck_surface(object, kcheck_surface::operation<T>(kcheck_surface::geometry, false, mode), place, &value);      \
    return value;                                                                                                      \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  static __attribute__((device)) void name##read(T* result, cudaSurfaceObject_t object, __KCHECK_LIST parameters,      \
                                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                \
    const int place[] = {__KCHECK_LIST words};                                                                         \
    T value;                                                                                                           \
    __kcheck_surface(object, kcheck_surface::operation<T>(kcheck_surface::geometry, false, mode), place, &value);      \
    *result = value;                                                                                                   \
  }
#define __KCHECK_LIST(...) __VA_ARGS__

__KCHECK_SURFACE(surf1D, Line, (int x), (x))
__KCHECK_SURFACE(surf2D, Plane, (int x, int y), (x, y))
__KCHECK_SURFACE(surf3D, Volume, (int x, int y, int z), (x, y, z))
__KCHECK_SURFACE(surf1DLayered, LineArray, (int x, int layer), (layer, x))
__KCHECK_SURFACE(surf2DLayered, PlaneArray, (int x, int y, int layer), (layer, x, y))
__KCHECK_SURFACE(surfCubemap, PlaneArray, (int x, int y, int face), (face, x, y))
__KCHECK_SURFACE(surfCubemapLayered, PlaneArray, (int x, int y, int layerFace), (layerFace, x, y))

#undef __KCHECK_SURFACE
#undef __KCHECK_LIST
#endif
