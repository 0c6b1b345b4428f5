// `%smid` in inline PTX with operands: to clang a wrong operand, to nvcc the register. The sign is kept as
// another one until the module is there.
#pragma once

namespace clang {
class Preprocessor;
}
namespace llvm {
class Module;
}

namespace kcheck::frontend {

/// Before anything is parsed.
void setRegisterNamesAside(clang::Preprocessor& preprocessor);
/// What stands for such a sign becomes one.
void restoreRegisterNames(llvm::Module& module);

} // namespace kcheck::frontend
