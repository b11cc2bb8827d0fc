// The beginning of a drag of op groups.
#pragma once

#include <vector>

#include "core/search/problem.h"

class QWidget;

namespace strato {

// A person carries the groups to another view, or to another place of this one. Returns when they
// were dropped or Escape was pressed, after an event loop of its own: `from`, and all that the
// caller holds, may be another by then.
void drag_groups(QWidget& from, const std::vector<GroupId>& groups, const Problem& problem);

}  // namespace strato
