#include "instrument/runtime/blas/library.h"

#include <cstdlib>
#include <initializer_list>

#include <dlfcn.h>

namespace kcheck::runtime::blas {
namespace {

void* load() {
  if (const char* named = std::getenv("KCHECK_BLAS")) return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  for (const char* name : {"libblas.so.3", "libopenblas.so.0"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

void* library() {
  static void* const loaded = load();
  return loaded;
}

} // namespace

void* routine(const char* name) { return library() ? dlsym(library(), name) : nullptr; }
bool isInstalled() { return routine("sgemm_") != nullptr; }

} // namespace kcheck::runtime::blas
