// Everything is in driver_types.h.
#pragma once
#include "driver_types.h"
