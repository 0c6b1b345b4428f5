// The atomic operations that an access hangs on: what of their results its place and condition speak of.
#pragma once

#include "analyzer/kernel_model.h"

#include <optional>

namespace kcheck::analyzer {

/// The last operands of a ticket are the rounds of the loops around it: so many.
inline constexpr std::size_t kTicketRounds = 4;

/// Whether what the value comes from may be what orders the threads.
bool mayOrder(const Cause& cause);

/// What one thread's access hangs on.
struct Draw {
  AtomicUpdate update;
  Expr ticket = nullptr; ///< of a ticket or room: the number drawn
  std::vector<Cause> causes;
};

struct Draws {
  std::vector<Draw> all;     ///< by object
  std::vector<Expr> within;  ///< width 1, of the thread itself: no other comes between several of one object
  std::vector<Cause> causes; ///< of being under a lock, which is one of these
  bool isKnown = true;       ///< false: several of one object do not follow each other at one place
  bool waits = false;
};

Draws drawsOf(const ModelAccess& access, const KernelModel& model, ExprContext& context);

/// The same one by one, in the order of the program: at any places, those that only look too. `isKnown` says
/// that the thread surely does all of them, none of which waits, or draws a ticket beside others.
Draws drawsInOrder(const ModelAccess& access, const KernelModel& model, ExprContext& context);

/// "the atomic operation at line 3", of what is said of its result.
std::string placeOf(const Cause& cause);

} // namespace kcheck::analyzer
