#include "core/cluster/value/cluster.h"

#include <algorithm>
#include <limits>

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

LinkId Cluster::direct(MachineId from, MachineId to) const {
  if (direct_.empty()) return {};
  const auto found = direct_.find({from, to});
  return found == direct_.end() ? LinkId() : found->second;
}

Path Cluster::path(DeviceId from, DeviceId to) const {
  Path path{{}, std::numeric_limits<double>::infinity(), {}, from, to};
  if (from == to) return path;
  const auto add = [&](LinkId id) {
    if (!id.valid()) return;
    path.links.push_back(id);
    path.bandwidth = std::min(path.bandwidth, links_[id].bandwidth);
    path.latency += links_[id].latency;
  };
  const MachineId source = devices_[from].machine, target = devices_[to].machine;
  const Ways &out = ways_[from], &in = ways_[to];
  if (source == target) {
    add(out.fabric.up);
    add(in.fabric.down);
    return path;
  }
  add(out.host.up);
  if (const LinkId link = direct(source, target); link.valid()) {
    add(link);
  } else {
    const Way &leaf = uplinks_[source], &other = uplinks_[target];
    const bool crosses = leaf.up != other.up;
    add(out.nic.up);
    if (crosses) add(leaf.up);
    add(switch_);
    if (crosses) add(other.down);
    add(in.nic.down);
  }
  add(in.host.down);
  return path;
}

Path Cluster::host_path(DeviceId device, LinkId Way::*direction) const {
  Path path{{}, std::numeric_limits<double>::infinity(), {}, device, device};
  const LinkId link = ways_[device].memory.*direction;
  if (!link.valid()) return path;
  path.links.push_back(link);
  path.bandwidth = links_[link].bandwidth;
  path.latency = links_[link].latency;
  return path;
}

double Cluster::bandwidth(DeviceGroupId a, DeviceGroupId b) const {
  // The devices of a group are alike, so one pair stands for all.
  const std::vector<DeviceId>& from = groups_[a].devices;
  if (a != b) return path(from.front(), groups_[b].devices.front()).bandwidth;
  return from.size() > 1 ? path(from[0], from[1]).bandwidth : gpu(from[0]).memory_bandwidth;
}

DeviceId Cluster::find_device(std::string_view name) const {
  const auto name_of = [this](DeviceId id) -> std::string_view { return devices_[id].name; };
  const auto at = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return at != by_name_.end() && name_of(*at) == name ? *at : DeviceId();
}

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
