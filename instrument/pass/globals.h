// Device variables as the runtime places them: part of the retargeting stage.
#pragma once

#include "instrument/pass/device_code.h"

namespace kcheck::instrument {

/// Gives every variable outside shared memory a slot, and writes DeviceCode::initialise, in which the
/// variables still appear by name. Returns variable -> slot.
std::map<const llvm::GlobalVariable*, llvm::GlobalVariable*> makeSlots(DeviceCode& code);

/// A text for the runtime, which is no variable of the checked program.
llvm::Constant* hostText(llvm::Module& module, llvm::StringRef text);
bool isHostText(const llvm::GlobalVariable& variable);

} // namespace kcheck::instrument
