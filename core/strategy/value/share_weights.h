// Weights that say the same in different numbers: 10 : 10 is 1 : 1.
#pragma once

#include <vector>

#include "core/strategy/value/strategy.h"

namespace strato {

void divide_by_common(std::vector<DeviceShare>& shares);

// The same decision in the smallest whole weights; all are 1 where the batch is not split, since
// they mean nothing there.
Decision reduced(Decision decision);

}  // namespace strato
