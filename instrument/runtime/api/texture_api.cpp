// Creation and destruction of texture and surface objects.
#include "instrument/runtime/api/arrays.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/texture_objects.h"

#include <array>
#include <atomic>
#include <mutex>

namespace kcheck::runtime::api {
namespace {

using cuda::ResourceDesc;
using cuda::ResourceType;
using Handle = unsigned long long;

constexpr std::size_t kChunk = 4096, kChunks = 4096;
/// Handles are unlike small numbers and pointers, so that a stray one is noticed.
constexpr Handle kHandleMark = 0x7e00000000000000;

/// Objects in chunks that are never moved or freed.
struct ObjectTable {
  std::mutex mutex;
  std::array<std::atomic<TextureObject*>, kChunks> chunks{};
  std::atomic<std::size_t> count{0};
};

ObjectTable& table() {
  static auto* instance = new ObjectTable; // outlives every exit handler
  return *instance;
}

Error addObject(TextureObject object, Handle* handle) {
  ObjectTable& objects = table();
  std::lock_guard lock(objects.mutex);
  std::size_t index = objects.count;
  if (index == kChunk * kChunks) return Error::MemoryAllocation;
  std::atomic<TextureObject*>& chunk = objects.chunks[index / kChunk];
  if (!chunk) chunk = new TextureObject[kChunk];
  chunk.load()[index % kChunk] = std::move(object);
  objects.count = index + 1;
  *handle = kHandleMark | (index + 1);
  return Error::Success;
}

/// The object behind a handle of the API: alive and of the right sort, or null.
TextureObject* liveObject(Handle handle, bool surface) {
  TextureObject* object = textureObject(handle);
  return object && object->live && object->surface == surface ? object : nullptr;
}

/// What an object is to read must be memory of one allocation.
bool isAllThere(const void* pointer, std::size_t bytes, void* caller) {
  const bool isThere = staysInside(pointer, bytes);
  if (!isThere) reportBadRange(pointer, bytes, false, "an object made here", caller);
  return isThere;
}

Error describeLinear(const ResourceDesc& resource, TextureObject& object, void* caller) {
  const auto& linear = resource.of.linear;
  if (!isFormat(linear.format)) return Error::InvalidChannelDescriptor;
  if (!linear.pointer || whereIs(linear.pointer) == Where::Host) return Error::InvalidValue;
  if (!isAllThere(linear.pointer, linear.bytes, caller)) return Error::InvalidValue;
  std::size_t texels = linear.bytes / texelBytes(linear.format);
  object.levels = {{static_cast<const std::byte*>(linear.pointer), texels, 1, 1, linear.bytes, linear.bytes,
                    linear.format}};
  object.sampler.linearMemory = true;
  return Error::Success;
}

Error describePitched(const ResourceDesc& resource, TextureObject& object, void* caller) {
  const auto& plane = resource.of.pitched;
  if (!isFormat(plane.format)) return Error::InvalidChannelDescriptor;
  if (!plane.pointer || whereIs(plane.pointer) == Where::Host || plane.height == 0)
    return Error::InvalidValue;
  std::size_t row = plane.width * texelBytes(plane.format);
  if (plane.pitch < row || plane.pitch % 32 != 0) return Error::InvalidPitchValue;
  if (!isAllThere(plane.pointer, (plane.height - 1) * plane.pitch + row, caller)) return Error::InvalidValue;
  object.levels = {{static_cast<const std::byte*>(plane.pointer), plane.width, plane.height, 1, plane.pitch,
                    plane.pitch * plane.height, plane.format}};
  return Error::Success;
}

Error describeResource(const ResourceDesc& resource, TextureObject& object, void* caller) {
  object.resource = resource;
  switch (resource.type) {
  case ResourceType::Array:
    if (!arrays().contains(resource.of.array.handle)) return Error::InvalidValue;
    object.levels = {imageOf(*resource.of.array.handle)};
    object.arrayFlags = resource.of.array.handle->flags;
    return Error::Success;
  case ResourceType::Mipmapped: {
    const cuda::MipmappedArray* mipmap = resource.of.mipmapped.handle;
    if (!mipmappedArrays().contains(mipmap)) return Error::InvalidValue;
    for (const cuda::Array* level : mipmap->levels) object.levels.push_back(imageOf(*level));
    object.arrayFlags = mipmap->flags;
    return Error::Success;
  }
  case ResourceType::Linear: return describeLinear(resource, object, caller);
  case ResourceType::Pitched: return describePitched(resource, object, caller);
  }
  return Error::InvalidValue;
}

Error describeSampler(const cuda::TextureDesc& texture, TextureObject& object) {
  const cuda::ChannelDesc& format = object.levels.front().format;
  bool isFloat = format.kind == cuda::ChannelKind::Float;
  object.texture = texture;
  for (std::size_t axis = 0; axis < 3; ++axis)
    object.sampler.address[axis] = AddressMode(texture.addressMode[axis]);
  object.sampler.linear = texture.filterMode == 1 && !object.sampler.linearMemory;
  object.sampler.normalisedFloat = texture.readMode == 1 && !isFloat;
  object.sampler.normalisedCoordinates = texture.normalizedCoords != 0 && !object.sampler.linearMemory;
  for (std::size_t i = 0; i < 4; ++i) object.sampler.border[i] = texture.borderColor[i];
  object.linearMipmaps = texture.mipmapFilterMode == 1;
  object.levelBias = texture.mipmapLevelBias;
  object.leastLevel = texture.minMipmapLevelClamp;
  object.mostLevel = texture.maxMipmapLevelClamp;
  if (object.sampler.linear && !isFloat && !object.sampler.normalisedFloat)
    return Error::InvalidFilterSetting;
  if (object.sampler.normalisedFloat && format.x == 32) return Error::InvalidNormSetting;
  return Error::Success;
}

} // namespace

TextureObject* textureObject(unsigned long long handle) {
  Handle number = handle & ~kHandleMark;
  if ((handle & kHandleMark) != kHandleMark || number == 0 || number > table().count) return nullptr;
  return table().chunks[(number - 1) / kChunk].load() + (number - 1) % kChunk;
}

} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;

extern "C" {

Error cudaCreateTextureObject(unsigned long long* handle, const cuda::ResourceDesc* resource,
                              const cuda::TextureDesc* texture, const cuda::ViewDesc* view) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (!handle || !resource || !texture) return Error::InvalidValue;
    TextureObject object;
    if (view && view->format != 0) {
      reportUnsupported("a texture view with a format of its own", caller);
      return Error::NotSupported;
    }
    if (view) object.view = *view, object.hasView = true;
    if (texture->sRGB) {
      reportUnsupported("sRGB conversion of textures", caller);
      return Error::NotSupported;
    }
    if (Error error = describeResource(*resource, object, caller); error != Error::Success) return error;
    if (Error error = describeSampler(*texture, object); error != Error::Success) return error;
    return addObject(std::move(object), handle);
  });
}

Error cudaDestroyTextureObject(unsigned long long handle) {
  return call([&] {
    TextureObject* object = liveObject(handle, false);
    if (!object) return handle == 0 ? Error::Success : Error::InvalidValue;
    object->live = false;
    return Error::Success;
  });
}

Error cudaGetTextureObjectResourceDesc(cuda::ResourceDesc* resource, unsigned long long handle) {
  return call([&] {
    TextureObject* object = liveObject(handle, false);
    if (!object || !resource) return Error::InvalidValue;
    *resource = object->resource;
    return Error::Success;
  });
}

Error cudaGetTextureObjectTextureDesc(cuda::TextureDesc* texture, unsigned long long handle) {
  return call([&] {
    TextureObject* object = liveObject(handle, false);
    if (!object || !texture) return Error::InvalidValue;
    *texture = object->texture;
    return Error::Success;
  });
}

Error cudaGetTextureObjectResourceViewDesc(cuda::ViewDesc* view, unsigned long long handle) {
  return call([&] {
    TextureObject* object = liveObject(handle, false);
    if (!object || !view || !object->hasView) return Error::InvalidValue;
    *view = object->view;
    return Error::Success;
  });
}

Error cudaCreateSurfaceObject(unsigned long long* handle, const cuda::ResourceDesc* resource) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (!handle || !resource || resource->type != cuda::ResourceType::Array) return Error::InvalidValue;
    TextureObject object;
    object.surface = true;
    if (Error error = describeResource(*resource, object, caller); error != Error::Success) return error;
    if (!(object.arrayFlags & cuda::ArraySurface)) return Error::InvalidValue;
    return addObject(std::move(object), handle);
  });
}

Error cudaDestroySurfaceObject(unsigned long long handle) {
  return call([&] {
    TextureObject* object = liveObject(handle, true);
    if (!object) return handle == 0 ? Error::Success : Error::InvalidValue;
    object->live = false;
    return Error::Success;
  });
}

Error cudaGetSurfaceObjectResourceDesc(cuda::ResourceDesc* resource, unsigned long long handle) {
  return call([&] {
    TextureObject* object = liveObject(handle, true);
    if (!object || !resource) return Error::InvalidValue;
    *resource = object->resource;
    return Error::Success;
  });
}

} // extern "C"
