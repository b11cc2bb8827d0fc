#include "core/cluster/value/device_names.h"

namespace strato {

std::vector<DeviceId> devices_named(std::string_view name, const Cluster& cluster) {
  if (const DeviceGroupId group = cluster.find_group(name); group.valid())
    return cluster.groups()[group].devices;
  if (const DeviceId device = cluster.find_device(name); device.valid()) return {device};
  if (name != "all") return {};
  std::vector<DeviceId> all;
  for (std::size_t i = 0; i < cluster.device_count(); ++i) all.emplace_back(i);
  return all;
}

}  // namespace strato
