#include "core/strategy/strategy.h"
