// Texture and surface objects: what a handle in a kernel stands for. A handle is an index into a table that
// only grows, so that kernels look it up without a lock and a destroyed object is known as such.
#pragma once

#include "instrument/runtime/api/texture_fetch.h"

#include <vector>

namespace kcheck::runtime::api {

struct TextureObject {
  bool surface = false;
  bool live = true;
  std::vector<Image> levels; ///< more than one for mipmapped arrays
  unsigned arrayFlags = 0;   ///< layered, cubemap
  Sampler sampler;
  bool linearMipmaps = false;
  float levelBias = 0, leastLevel = 0, mostLevel = 0;
  cuda::ResourceDesc resource{};
  cuda::TextureDesc texture{};
  cuda::ViewDesc view{};
  bool hasView = false;
};

/// Null for a handle that was never given out. The object may be dead.
TextureObject* textureObject(unsigned long long handle);

} // namespace kcheck::runtime::api
