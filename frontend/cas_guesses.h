// `old = *p; do { assumed = old; old = atomicCAS(p, assumed, f(assumed)); } while (old != assumed);` as the
// programming guide has it: what the plain read yields is a guess that nothing but the atomicCAS uses, and
// that the atomicCAS checks. Whatever other threads do to *p meanwhile, a wrong guess changes nothing.
#pragma once

namespace llvm {
class Module;
}

namespace kcheck::frontend {

/// Makes such reads relaxed atomic ones, with the scope of their atomicCAS: they race with plain writes only.
void relaxGuesses(llvm::Module& module);

} // namespace kcheck::frontend
