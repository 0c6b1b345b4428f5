// Values without content that go through shuffles. Lanes may offer a variable that has no value yet, as long
// as nobody uses what comes from them: the flag goes along with the value, and the lane that receives it is
// asked (track_locals.cpp).
#pragma once

#include "instrument/pass/markers.h"

#include <set>
#include <vector>

namespace kcheck::instrument {

/// The shuffles that offer the loaded value to other lanes; empty when it is used in any other way as well.
std::vector<llvm::CallInst*> shufflesOf(llvm::LoadInst& load);

/// The shuffles whose results, or pieces of them, make up the value; others than `among` are left out.
std::vector<llvm::CallInst*> shufflesIn(const llvm::Value* value, const std::set<llvm::CallInst*>& among);

/// Whether the result of the shuffle does more than go to a variable of the thread.
bool isResultUsed(llvm::CallInst& shuffle);

/// The shuffle tells the lanes that read from this one that the value is `missing`.
void offerMissing(llvm::CallInst& shuffle, llvm::Value* missing);

/// Whether the lane that the shuffle read from had no value to offer.
llvm::Value* receivedMissing(llvm::IRBuilderBase& builder, llvm::CallInst& shuffle);

/// The condition under which the shuffle behind a question of receivedMissing() offers nothing: null where
/// `question` is something else or the shuffle always offers a value.
llvm::Value* offeredMissing(llvm::Value* question, bool& isReceived);

} // namespace kcheck::instrument
