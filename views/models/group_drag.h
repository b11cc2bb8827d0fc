// Op groups on their way from one view to another: what a drag carries, and where it can end. A view
// takes them where it shows a device, a device group or a machine, and makes one edit of it.
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

// Some devices that groups can be put on, as a person calls them.
struct DropPlace {
  QString name;
  std::vector<DeviceId> devices;  // ascending, at least one
  friend bool operator==(const DropPlace&, const DropPlace&) = default;
};
DropPlace place_of(const Cluster& cluster, DeviceId device);
DropPlace place_of(const Cluster& cluster, DeviceGroupId group);
DropPlace place_of(const Cluster& cluster, MachineId machine);
// Machines with their device groups and devices below them. What is the same devices as the one
// above is left out; of a single device its own name is told.
std::vector<DropPlace> all_places(const Cluster& cluster);

// The groups on these devices alone, as one undoable edit.
void drop_on(Session& session, const std::vector<GroupId>& groups, const DropPlace& place);
void drop_on(Session& session, const std::vector<GroupId>& groups, DeviceGroupId device_group);

}  // namespace strato
