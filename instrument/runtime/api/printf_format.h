// printf as CUDA defines it for kernels: formats from a buffer that holds the arguments one after the other,
// each at its natural alignment (int 4, long, double and pointers 8), as clang and nvcc pack them.
#pragma once

#include <string>

namespace kcheck::runtime::api {

/// Appends the formatted text and returns the number of arguments that the format takes, or -1 for a null
/// format.
int formatPacked(std::string& out, const char* format, const void* arguments);

} // namespace kcheck::runtime::api
