// `__managed__` variables, which clang knows for HIP only. The headers and the prelude make them device
// variables with an annotation; host code then has to reach them through a pointer that the runtime fills in.
#pragma once

namespace llvm {
class Module;
}

namespace kcheck::frontend {

/// In a host module: every use of a managed variable goes through its pointer, and its registration says that
/// it is managed.
void lowerManagedVariables(llvm::Module& host);

/// In a device module: gives them an attribute, kManagedAttribute.
void markManagedVariables(llvm::Module& device);

} // namespace kcheck::frontend
