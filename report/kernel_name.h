// How users name kernels: by a bare name, with namespace, with template arguments, or in full.
#pragma once

#include <string>
#include <string_view>

namespace kcheck {

/// `ns::scale<float>(float *, int)` without its parameter list: `ns::scale<float>`.
std::string_view withoutParameters(std::string_view name);

/// The bare name: `scale`.
std::string_view bareKernelName(std::string_view name);

/// Whether `wanted` (an option's NAME) means the kernel with this symbol and this name in full.
bool namesKernel(std::string_view wanted, std::string_view symbol, std::string_view name);

} // namespace kcheck
