// Which op groups a lesson means.
#pragma once

#include <vector>

#include "core/graph/group/grouping.h"
#include "views/lessons/lesson.h"

namespace strato {

// Ascending; never empty for a grouping that has groups, but for names that it does not have and
// for WithParameters where no group has any.
std::vector<GroupId> chosen_groups(const GroupChoice& choice, const Grouping& grouping);

// The device groups of these machines or device groups, by name; throws InputError (place: the
// name) for one that the cluster does not have.
std::vector<DeviceGroupId> chosen_devices(const QStringList& names, const Cluster& cluster);

}  // namespace strato
