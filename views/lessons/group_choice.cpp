#include "views/lessons/group_choice.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {
namespace {

std::vector<GroupId> all_groups(const Grouping& grouping) {
  std::vector<GroupId> groups;
  for (std::size_t g = 0; g < grouping.size(); ++g) groups.emplace_back(g);
  return groups;
}

GroupId with_most_parameters(const Grouping& grouping) {
  const auto groups = all_groups(grouping);
  return *std::max_element(groups.begin(), groups.end(), [&](GroupId a, GroupId b) {
    return grouping.group(a).parameter_bytes < grouping.group(b).parameter_bytes;
  });
}

}  // namespace

std::vector<GroupId> chosen_groups(const GroupChoice& choice, const Grouping& grouping) {
  std::vector<GroupId> groups = all_groups(grouping);
  if (groups.empty()) return groups;
  switch (choice.which) {
    case GroupChoice::Which::All:
    case GroupChoice::Which::Any:
      return groups;
    case GroupChoice::Which::Slowest:
      return {groups.front()};  // groups are sorted by compute time
    case GroupChoice::Which::MostParameters:
      return {with_most_parameters(grouping)};
    case GroupChoice::Which::WithParameters:
      std::erase_if(
          groups, [&](GroupId group) { return grouping.group(group).parameter_bytes.value == 0; });
      return groups;
    case GroupChoice::Which::Named:
      std::erase_if(groups, [&](GroupId group) {
        return !choice.names.contains(QString::fromStdString(grouping.group(group).name));
      });
      return groups;
  }
  return groups;
}

std::vector<DeviceGroupId> chosen_devices(const QStringList& names, const Cluster& cluster) {
  std::vector<DeviceGroupId> chosen;
  for (const QString& name : names) {
    const std::size_t before = chosen.size();
    for (std::size_t g = 0; g < cluster.groups().size(); ++g) {
      const DeviceGroup& group = cluster.groups()[DeviceGroupId(g)];
      if (name == QString::fromStdString(group.name) ||
          name == QString::fromStdString(cluster.machines()[group.machine].name)) {
        chosen.emplace_back(g);
      }
    }
    if (chosen.size() == before) {
      throw InputError("", name.toStdString(), "the cluster has no such machine or device group",
                       "write one of its names");
    }
  }
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace strato
