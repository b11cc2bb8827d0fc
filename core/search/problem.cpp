#include "core/search/problem.h"
