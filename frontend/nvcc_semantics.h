// Where nvcc is more lenient than clang and the syntax tree can be told so, before clang asks.
#pragma once

#include <memory>

namespace clang {
class ASTConsumer;
}

namespace kcheck::frontend {

/// To be run before code generation, on the device and on the host side.
std::unique_ptr<clang::ASTConsumer> makeNvccSemantics();

} // namespace kcheck::frontend
