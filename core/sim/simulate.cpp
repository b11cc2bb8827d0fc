#include "core/sim/simulate.h"
