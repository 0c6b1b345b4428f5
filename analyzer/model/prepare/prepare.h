// Makes the device module fit for symbolic execution: everything inlined, scalars promoted, one barrier per
// block start, loops in canonical form. Nothing is hoisted, sunk, merged or speculated on the way, so that
// every access of the source is still there, under its own condition.
#pragma once

#include "analyzer/kernel_model.h"
#include "analyzer/model/prepare/unwritten.h"
#include "analyzer/model/sites.h"

#include <memory>
#include <set>

namespace llvm {
class DILocation;
class Function;
class Module;
} // namespace llvm

namespace kcheck::analyzer {

/// One kernel of the prepared module.
struct KernelCode {
  const Kernel* kernel = nullptr;
  llvm::Function* function = nullptr;
  std::optional<UnwrittenDoubt> mayReadUnwritten; ///< a local variable
  std::vector<std::string> assumptions;           ///< that what has been done to it rests on
};

struct PreparedModule {
  PreparedModule();
  ~PreparedModule();
  PreparedModule(PreparedModule&&) noexcept;

  std::unique_ptr<llvm::Module> module;
  std::vector<KernelCode> kernels;
  /// Where a copy of a whole object stood that has become several loads and stores: those carry the values,
  /// while a marker call (kAccessMarker) carries the access.
  std::set<const llvm::DILocation*> copies;
  std::set<std::string> writtenVariables; ///< by some function of the program; symbols
};

/// Marker for one side of a memory copy: void(ptr, i64 bytes, i1 isWrite), with the copy's site.
inline constexpr const char* kAccessMarker = "kcheck.access";
/// Metadata on a memory copy whose side outside the thread's locals has such a marker.
inline constexpr const char* kMarkedCopy = "kcheck.marked";

/// Clones what the kernels of `only` (empty: all) reach and prepares it.
PreparedModule prepare(const llvm::Module& device, const Facts& facts, const std::vector<std::string>& only);

} // namespace kcheck::analyzer
