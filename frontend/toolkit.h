// Which CUDA headers a compilation uses: those of a toolkit on this machine, or those that kcheck ships.
#pragma once

#include "report/error.h"

#include <string>

namespace kcheck::frontend {

struct Toolkit {
  std::string path; ///< folder that holds include/cuda_runtime.h; empty: kcheck's own headers
  bool ownHeaders() const { return path.empty(); }
};

/// `wanted` is Options::cudaPath. Without a wish: $CUDA_PATH, $CUDA_HOME, /usr/local/cuda, the folder of nvcc
/// in PATH, and kcheck's own headers when none of them holds a toolkit.
OrError<Toolkit> findToolkit(const std::string& wanted);

} // namespace kcheck::frontend
