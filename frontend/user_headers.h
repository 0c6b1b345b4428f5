// What adaptToClang does for a file, for the headers that it includes.
#pragma once

namespace clang {
class CompilerInstance;
}

namespace kcheck::frontend {

/// To be called before the compiler's preprocessor has begun. System headers are left as they are.
void adaptUserHeaders(clang::CompilerInstance& compiler);

} // namespace kcheck::frontend
