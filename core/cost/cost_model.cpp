#include "core/cost/cost_model.h"
