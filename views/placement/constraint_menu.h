// What a person may demand of the selected groups, as entries of a context menu.
#pragma once

#include <vector>

#include "views/models/session.h"

class QMenu;

namespace strato {

// `device_group`: of the cell that the menu is for; invalid: none. Each entry is one undoable step.
void add_constraint_actions(QMenu& menu, Session& session, const std::vector<GroupId>& groups,
                            DeviceGroupId device_group);

}  // namespace strato
