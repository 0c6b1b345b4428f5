// The same of kernels whose accesses are checked on the spot: what is left out there must not hide anything either.
#define ORDER __threadfence()
#include "quiet.cu"
