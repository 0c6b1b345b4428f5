// The end of the program, as the API layer sees it.
#pragma once

namespace kcheck::runtime::api {

/// Makes sure that the reports of the end are written; called when host code registers itself.
void watchExit();

} // namespace kcheck::runtime::api
