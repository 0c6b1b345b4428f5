#include "instrument/runtime/core/memory.h"
