// Reads off host code which buffers it makes and which launches it does, as far as constants show them.
#pragma once

namespace clang {
class ASTContext;
}

namespace kcheck::frontend {

struct HostSide;
/// `wholeProgram`: no other file can call this file's functions or change its variables.
void collectHostFacts(clang::ASTContext& ast, bool wholeProgram, HostSide& result);

} // namespace kcheck::frontend
