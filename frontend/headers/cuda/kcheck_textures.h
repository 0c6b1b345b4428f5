// Texture fetches through texture objects, on clang's texture intrinsics.
#pragma once
#pragma GCC system_header

#include <__clang_cuda_texture_intrinsics.h>

#define __KC_TEXTURE(name, parameters, ...)                                                                            \
  template <typename T> static __device__ void name(T* result, cudaTextureObject_t object, parameters) {               \
    __nv_tex_surf_handler("__i" #name, result, object, __VA_ARGS__);                                                   \
  }                                                                                                                    \
  template <typename T> static __device__ T name(cudaTextureObject_t object, parameters) {                             \
    T result;                                                                                                          \
    name(&result, object, __VA_ARGS__);                                                                                \
    return result;                                                                                                     \
  }
#define __KC_LIST(...) __VA_ARGS__
__KC_TEXTURE(tex1Dfetch, int x, x)
__KC_TEXTURE(tex1D, float x, x)
__KC_TEXTURE(tex1DLod, __KC_LIST(float x, float level), x, level)
__KC_TEXTURE(tex1DLayered, __KC_LIST(float x, int layer), x, layer)
__KC_TEXTURE(tex2D, __KC_LIST(float x, float y), x, y)
__KC_TEXTURE(tex2DLod, __KC_LIST(float x, float y, float level), x, y, level)
__KC_TEXTURE(tex2DLayered, __KC_LIST(float x, float y, int layer), x, y, layer)
__KC_TEXTURE(tex3D, __KC_LIST(float x, float y, float z), x, y, z)
__KC_TEXTURE(tex3DLod, __KC_LIST(float x, float y, float z, float level), x, y, z, level)
__KC_TEXTURE(texCubemap, __KC_LIST(float x, float y, float z), x, y, z)
#undef __KC_TEXTURE
#undef __KC_LIST
