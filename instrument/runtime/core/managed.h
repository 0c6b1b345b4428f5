// Managed memory that nobody has set. The host writes it unseen, so its pages tell: one that the system has
// not even handed out yet holds what nobody has written. Looked at before each launch, copy and fill.
#pragma once

#include "instrument/runtime/core/shadow.h"

namespace kcheck::runtime {

/// Untouched pages of managed arrays count as unwritten from here on. What was left unwritten of a page that
/// has been touched since counts as written: it may have been the host.
void lookAtManagedPages();

} // namespace kcheck::runtime
