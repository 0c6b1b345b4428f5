// What host code calls where a thread may learn what others have done (frontend/host_learning.cpp).
#include "instrument/runtime/core/host_threads.h"

extern "C" void kcHostLearns() { kcheck::runtime::hostThreadLearns(); }
