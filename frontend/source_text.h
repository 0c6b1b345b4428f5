// The text that clang compiles instead of a file's own, where the two differ: a main for launch lines, and
// what nvcc accepts but no forced include can make clang accept. Lines of the user's code stay as they are,
// and columns up to the first size in braces of a launch.
#pragma once

#include "frontend/launch_line.h"

namespace kcheck::frontend {

/// What a quick look at the tokens shows.
struct SourceLook {
  bool definesMain = false;
};
SourceLook lookAt(const std::string& text);

/// What the text includes with angle brackets before anything else stands in it.
std::vector<std::string> leadingHeaders(const std::string& text);

/// `__shared__ alignas(16)` is an error to clang, `alignas(16) __shared__` is not; both have the same length.
/// Launches are adapted as launch_brackets.h says.
std::string adaptToClang(const std::string& text);

/// Further driver arguments that a file needs: headers for builtins of nvcc that it names.
std::vector<std::string> shimsFor(const std::string& text);

/// The toolkit's driver_types.h with the members of cudaDeviceProp that CUDA 13 dropped (clockRate and
/// others), in place of reserved words at its end; empty when that header does not look as expected.
std::string restoreDeviceProperties(const std::string& driverTypes);

/// Whether the text has a kernel of that name (template arguments and namespaces are ignored).
bool mentionsKernel(const std::string& text, const std::string& kernel);

/// Sets file, line and column: those of the `launch:` comment when the launch line stands in one.
void placeLaunchLine(LaunchLine& launch, const std::string& file, const std::string& text,
                     std::size_t number);

} // namespace kcheck::frontend
