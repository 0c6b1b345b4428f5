// Everything is in host_defines.h.
#pragma once
#include "host_defines.h"
