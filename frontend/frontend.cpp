#include "frontend/frontend.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace kcheck::frontend {
Program::Program() = default;
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
OrError<Program> compile(const Options&) { return Error{"the front end is not there yet"}; }
} // namespace kcheck::frontend
