// The plans that the shown one can be compared with, as entries of a menu: the same wherever they
// are offered.
#pragma once

#include <functional>

#include "views/models/second_plan.h"

class QMenu;

namespace strato {

// One of them is checked: the choice as it is. `chosen` is called after another one was taken.
void add_plans(QMenu& menu, SecondPlan& second, std::function<void()> chosen = {});

}  // namespace strato
