// What the program calls the numbers and pointers in a structure that is a parameter, or that one leads to.
#pragma once

#include "analyzer/kernel_model.h"

namespace llvm {
class Argument;
} // namespace llvm

namespace kcheck::analyzer {

/// By byte: `p.size`, `p.extent[1]`, `p->rows`. Integers and pointers only; empty where the module has no
/// debug information.
std::map<std::int64_t, FieldName> fieldNames(const llvm::Argument& argument, const std::string& parameter);

} // namespace kcheck::analyzer
