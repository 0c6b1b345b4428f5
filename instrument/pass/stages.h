// The stages of the pass, in the order in which instrument.cpp runs them. Each leaves a module that verifies.
#pragma once

#include "instrument/pass/device_code.h"

namespace kcheck::instrument {

/// Finds the kernels, makes everything internal, drops what nothing reaches, and takes away attributes and
/// metadata that hold on a GPU only or would let the optimiser act on undefined behaviour.
void prepare(DeviceCode& code);

/// Shifts, conversions and divisions that the language leaves open give what a GPU has for them.
void settleOpenNumbers(DeviceCode& code);

/// Bodies of cooperative groups' grid barrier: a GridSync wait instead of polling a workspace.
void replaceGridBarrier(DeviceCode& code);

/// On the pass's own loads and stores of a thread's or block's context: no accesses of the program's.
inline constexpr const char* kOwnMetadata = "kcheck.own";

/// Inline PTX, nvvm intrinsics and device library calls become plain IR and markers.
void lowerDevice(DeviceCode& code);

/// A runtime call before every access that may touch memory of other threads.
void insertHooks(DeviceCode& code);

/// Remembers the names of the user's local variables, which debug records have until `prepare` is done.
inline constexpr const char* kLocalMetadata = "kcheck.local";
inline constexpr const char* kCopyMetadata = "kcheck.copy"; ///< the front end's: a piece of a copied object
inline constexpr const char* kTwinMetadata =
    "kcheck.twin"; ///< notes that bytes of a local variable are written
void nameLocals(const DeviceCode& code, llvm::Function& function);
/// Asks before reads of local variables whether they have a value; then takes away the questions that every
/// path answers.
void trackLocals(DeviceCode& code, llvm::Function& function);
void settleUnwritten(llvm::Function& function);

/// Inlines small functions and promotes local variables; drops hooks of accesses that turn out local.
void inlineSmall(DeviceCode& code);
void promoteScalars(DeviceCode& code, llvm::Function& function);

/// A Yield on the back edge of loops that poll memory.
void yieldInPollingLoops(DeviceCode& code);

/// Makes the entries and decides for each kernel how its threads wait; inlines what contains a wait.
void buildEntries(DeviceCode& code);

/// Gives hooks and waits their final sites; leaves out proved sites; writes out checks of local arrays.
void finishHooks(DeviceCode& code);

/// What may order a kernel's threads, for the runtime to leave out what cannot matter.
void findTraits(DeviceCode& code);

/// Through which parameters a kernel can write.
void findWrittenParameters(DeviceCode& code);

/// Which reads go through the read-only cache.
void findReadOnlyLoads(DeviceCode& code);

/// Local variables that other threads may find get memory that tells whose they are.
void shareLocals(DeviceCode& code);

/// NVPTX to x86-64: hidden thread parameter, one address space, shared window, slots for globals, registers.
void placeSharedMemory(DeviceCode& code);
void retarget(DeviceCode& code);

/// Signed sums and products that leave 32 bits wrap, as on a GPU.
void letWrap(DeviceCode& code);

/// In kernels whose checks can wait: accesses are logged in place of calling the runtime.
void logAccesses(DeviceCode& code);

/// Calls before accesses say which of the kernel's arrays the address is counted from (own_arrays.h).
void nameOwnArrays(DeviceCode& code);

/// Atomic sums of floats in global memory flush what is too small, as a GPU's do.
void flushSums(DeviceCode& code);

/// Wait markers become coroutine suspensions or calls of kcBlock.
void lowerWaits(DeviceCode& code);

/// The tables of abi.h, and a constructor that registers them.
void writeTables(DeviceCode& code);

/// Optimises for speed and writes an x86-64 object.
std::string emitObject(llvm::Module& module);

/// Asserts that the module is well formed; says after which stage it is not.
void verify(const llvm::Module& module, const char* stage);

} // namespace kcheck::instrument
