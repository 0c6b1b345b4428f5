// Names of what the front end hangs on device code for the passes, beside the sites (program.h).
#pragma once

namespace kcheck {

/// On accesses that a small function of a system header made before it was inlined: their sites are those of
/// the user's call.
inline constexpr const char* kLibraryMetadata = "kcheck.library";

/// On `__managed__` variables.
inline constexpr const char* kManagedAttribute = "kcheck.managed";

/// On kernels: a number whose bits 0 to 2 are the axes of the block and bits 3 to 5 those of the grid that
/// its own code looks at, libraries left out.
inline constexpr const char* kOwnAxesAttribute = "kcheck.own-axes";

} // namespace kcheck
