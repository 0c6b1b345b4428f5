// Launches that nothing orders but their own flags. A launch runs at once, and mostly to its end. One whose
// threads in the end only poll may be waiting for the host, or for a launch of another stream: it is set
// aside, the host goes on, and the launch goes on as well whenever something may have changed.
//
// Launches that live at the same time keep company, and so do those that have ended with something published
// while others may yet begin beside them. Their blocks have numbers of their own (LaunchState::firstBlock),
// and what words have published goes from one to the other with the turn (SharedOrder): so flags order
// threads of two launches as they do threads of one grid.
#pragma once

#include "instrument/runtime/core/state.h"

#include <memory>
#include <vector>

namespace kcheck::runtime {

/// State for a launch; given back when it is over.
LaunchState& takeState();
void giveBack(LaunchState& launch);
/// In use or not: their shared windows keep what earlier launches have left.
const std::vector<std::unique_ptr<LaunchState>>& allStates();

/// Those that have been set aside and are not over, oldest first.
const std::vector<LaunchState*>& liveLaunches();
/// A launch begins, maybe beside others. True: they keep company.
bool joinCompany(LaunchState& launch);
/// It only polls.
void setAside(LaunchState& launch);
/// One that has been set aside goes on, and stops again.
void takeTurn(LaunchState& launch);
void endTurn(LaunchState& launch);
/// It has come to its end; in company, or with something that others may get from it.
void leaveCompany(LaunchState& launch);
/// Whether launches of other streams may take up what it has published.
bool mayOrderOthers(const LaunchState& launch);
/// None is alive: what begins now counts as ordered by streams alone.
void endCompany();
/// The host goes on, and may find what they have published.
void tellHost();

/// What a launch has found when it began, for its repetitions (rehearsal.h).
SharedOrder orderBefore(const LaunchState& launch);
void repeatInCompany(LaunchState& launch, const SharedOrder& before);

} // namespace kcheck::runtime
