#include "core/cluster/value/cluster.h"

#include <algorithm>

namespace strato {
namespace {

constexpr std::array<std::string_view, kPrecisions> kPrecisionNames = {
    "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"};

template <class Key, class T>
Key find_by_name(const IdVector<Key, T>& values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &T::name);
  return found == values.end() ? Key() : Key(static_cast<std::size_t>(found - values.begin()));
}

}  // namespace

std::string_view name_of(Precision precision) {
  return kPrecisionNames[static_cast<std::size_t>(precision)];
}

double Cluster::bandwidth(DeviceGroupId a, DeviceGroupId b) const {
  // The devices of a group are alike, so one pair stands for all.
  const std::vector<DeviceId>& from = groups_[a].devices;
  if (a != b) return path(from.front(), groups_[b].devices.front()).bandwidth;
  return from.size() > 1 ? path(from[0], from[1]).bandwidth : gpu(from[0]).memory_bandwidth;
}

DeviceId Cluster::find_device(std::string_view name) const { return find_by_name(devices_, name); }

DeviceGroupId Cluster::find_group(std::string_view name) const {
  return find_by_name(groups_, name);
}

std::vector<DeviceId> Cluster::devices_named(std::string_view name) const {
  if (const DeviceGroupId group = find_group(name); group.valid()) return groups_[group].devices;
  if (const DeviceId device = find_device(name); device.valid()) return {device};
  std::vector<DeviceId> all;
  for (std::size_t i = 0; name == "all" && i < device_count(); ++i) all.emplace_back(i);
  return all;
}

}  // namespace strato
