// Reads off host code which buffers it makes and which launches it does, as far as constants show them.
#pragma once

namespace clang {
class ASTContext;
}

namespace kcheck::frontend {

struct HostSide;
void collectHostFacts(clang::ASTContext& ast, HostSide& result);

} // namespace kcheck::frontend
