// The tactic that Z3's own choice would take, and that one alone: a solver of its default kind makes all of
// them, which costs more than most queries do.
#pragma once

#include <z3++.h>

namespace kcheck::analyzer::smt {

/// A solver that has been told these.
z3::solver solverFor(const z3::expr_vector& assertions);

} // namespace kcheck::analyzer::smt
