// Op groups on their way from one view to another: what a drag carries. A view takes them where it
// shows a device group (or device), and makes one edit of it.
#pragma once

#include <QMimeData>
#include <vector>

#include "core/graph/grouping.h"
#include "views/models/session.h"

namespace strato {

// Names the groups by number, and the grouping that they are of.
QMimeData* drag_of(const std::vector<GroupId>& groups, const Problem& problem);
// Empty when it carries none, or groups of something that is no longer shown.
std::vector<GroupId> dragged_groups(const QMimeData& data, const Problem& problem);
QString group_drag_type();

// The groups on this device group alone, as one undoable edit.
void drop_on(Session& session, const std::vector<GroupId>& groups, DeviceGroupId device_group);

}  // namespace strato
