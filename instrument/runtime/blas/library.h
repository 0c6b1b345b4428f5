// The system's BLAS (libblas3, OpenBLAS), which does cuBLAS's arithmetic. Loaded when a program first asks.
#pragma once

namespace kcheck::runtime::blas {

/// The Fortran routine (`sgemm_`), or null where no library is installed. `KCHECK_BLAS` names another
/// library.
void* routine(const char* name);
bool isInstalled();

} // namespace kcheck::runtime::blas
