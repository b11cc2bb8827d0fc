// A step time that no strategy can beat.
#pragma once

#include "core/search/api/problem.h"

namespace strato {

// No strategy of this problem can be faster (proof in the .cpp's header comment).
Nanos lower_bound(const Problem& problem);

}  // namespace strato
