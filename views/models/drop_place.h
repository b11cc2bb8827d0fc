// Where a drag of op groups and ops can end: a view takes them where it shows a device, a device
// group or a machine, and makes one edit of it.
#pragma once

#include <vector>

#include "views/models/carried.h"
#include "views/models/session.h"

namespace strato {

// Some devices that ops can be put on, as a person calls them.
struct DropPlace {
  QString name;
  std::vector<DeviceId> devices;  // ascending, at least one
  friend bool operator==(const DropPlace&, const DropPlace&) = default;
};
DropPlace place_of(const Cluster& cluster, DeviceId device);
DropPlace place_of(const Cluster& cluster, DeviceGroupId group);
DropPlace place_of(const Cluster& cluster, MachineId machine);
// Machines with their device groups and devices below them. What is the same devices as the one
// above is left out; a single device has its own name.
std::vector<DropPlace> all_places(const Cluster& cluster);

// All that is carried, on these devices alone, as one undoable edit: at once where only groups are
// carried, else in the background, unless something else is shown by then.
void drop_on(Session& session, const Carried& carried, const DropPlace& place);

}  // namespace strato
