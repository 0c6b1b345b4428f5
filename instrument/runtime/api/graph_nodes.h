// From the parameter structures of graph nodes to work, shared by nodes that are added and nodes that are
// changed.
#pragma once

#include "instrument/runtime/api/work.h"

namespace kcheck::runtime::api {

cuda::Error kernelWork(const cuda::KernelNodeParams& parameters, void* caller, KernelWork& work);
cuda::Error fillWork(const cuda::FillNodeParams& parameters, void* caller, FillWork& work);
cuda::Error copyWork3D(const cuda::Copy3D& parameters, void* caller, CopyWork& work);
/// Allocates at once and stores the address in the parameters.
cuda::Error allocateWork(cuda::AllocateNodeParams& parameters, void* caller, AllocateWork& work);
/// Frees the memory when the last holder goes, unless the program has done so.
std::shared_ptr<void> graphMemory(void* pointer);

} // namespace kcheck::runtime::api
