#include "analyzer/expr/expr.h"
