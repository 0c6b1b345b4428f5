// What this machine has: nvcc, a GPU, compute-sanitizer. Each path is empty when it is not there.
#pragma once

#include <string>

namespace kcheck::expectations {

std::string findNvcc();
std::string findComputeSanitizer();

/// Name and driver of the first GPU, as nvidia-smi says them; empty without a GPU that answers.
std::string gpuName();

} // namespace kcheck::expectations
