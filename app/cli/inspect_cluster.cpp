#include <fmt/format.h>

#include <algorithm>

#include "app/cli/inspection.h"
#include "app/cli/output.h"
#include "core/base/quantity_text.h"

namespace strato::cli {
namespace {

constexpr std::size_t kMostGroups = 64;  // that are listed for people

std::size_t listed_groups(const Cluster& cluster) {
  return std::min(cluster.groups().size(), kMostGroups);
}

// Inside a group of one device there is no pair and hence no bandwidth.
bool has_bandwidth(const Cluster& cluster, DeviceGroupId a, DeviceGroupId b) {
  return a != b || cluster.groups()[a].devices.size() > 1;
}

std::string bandwidth_matrix(const Cluster& cluster) {
  std::vector<std::string> header = {"between"};
  const std::size_t count = listed_groups(cluster);
  for (std::size_t g = 0; g < count; ++g) header.push_back(cluster.groups()[DeviceGroupId(g)].name);
  Table table(std::move(header));
  for (std::size_t a = 0; a < count; ++a) {
    std::vector<std::string> row = {cluster.groups()[DeviceGroupId(a)].name};
    for (std::size_t b = 0; b < count; ++b) {
      const DeviceGroupId from(a), to(b);
      row.push_back(has_bandwidth(cluster, from, to) ? bandwidth_text(cluster.bandwidth(from, to))
                                                     : "-");
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Bytes group_memory(const Cluster& cluster, const DeviceGroup& group) {
  return cluster.gpu_types()[group.type].memory * static_cast<std::int64_t>(group.devices.size());
}

Json groups_json(const Cluster& cluster) {
  Json list = Json::array();
  for (const DeviceGroup& group : cluster.groups()) {
    Json names = Json::array();
    for (const DeviceId device : group.devices) names.push_back(cluster.device(device).name);
    const GpuType& gpu = cluster.gpu_types()[group.type];
    list.push_back({{"name", group.name},
                    {"machine", cluster.machines()[group.machine].name},
                    {"gpu", gpu.name},
                    {"memory_bytes", gpu.memory.value},
                    {"devices", names}});
  }
  return list;
}

}  // namespace

Json cluster_json(const Cluster& cluster) {
  Json matrix = Json::array();
  for (std::size_t a = 0; a < cluster.groups().size(); ++a) {
    Json row = Json::array();
    for (std::size_t b = 0; b < cluster.groups().size(); ++b) {
      const DeviceGroupId from(a), to(b);
      row.push_back(has_bandwidth(cluster, from, to) ? Json(cluster.bandwidth(from, to)) : Json());
    }
    matrix.push_back(std::move(row));
  }
  Json machines = Json::array();
  for (const Machine& machine : cluster.machines()) machines.push_back(machine.name);
  return {{"kind", "cluster"},
          {"name", cluster.name()},
          {"machines", machines},
          {"devices", cluster.device_count()},
          {"links", cluster.links().size()},
          {"device_groups", groups_json(cluster)},
          {"bandwidth_bytes_per_s", matrix}};
}

std::string cluster_text(const Cluster& cluster) {
  Bytes memory;
  Table groups({"device group", "machine", "GPUs", "type", "memory each", "peak fp32/s",
                "memory bandwidth"});
  for (std::size_t g = 0; g < cluster.groups().size(); ++g) {
    const DeviceGroup& group = cluster.groups()[DeviceGroupId(g)];
    const GpuType& gpu = cluster.gpu_types()[group.type];
    memory += group_memory(cluster, group);
    if (g >= listed_groups(cluster)) continue;
    groups.add({group.name, cluster.machines()[group.machine].name,
                std::to_string(group.devices.size()), gpu.name, bytes_text(gpu.memory),
                flops_text(gpu.peak_flops[static_cast<std::size_t>(Precision::Fp32)]),
                bandwidth_text(gpu.memory_bandwidth)});
  }
  const std::size_t more = cluster.groups().size() - listed_groups(cluster);
  return fmt::format(
      "{}: {}, {} in {}, {} of memory\n\n{}{}\n{}", cluster.name(),
      counted(cluster.machines().size(), "machine"), counted(cluster.device_count(), "GPU"),
      counted(cluster.groups().size(), "device group"), bytes_text(memory), groups.text(),
      more == 0 ? "" : fmt::format("… and {} more\n", more), bandwidth_matrix(cluster));
}

}  // namespace strato::cli
