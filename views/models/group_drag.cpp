#include "views/models/group_drag.h"

#include <QCoreApplication>
#include <QDataStream>
#include <QIODevice>

#include "views/models/strategy_edits.h"
#include "views/style/text.h"

namespace strato {

QString group_drag_type() { return QStringLiteral("application/x-stratoscope-groups"); }

QMimeData* drag_of(const std::vector<GroupId>& groups, const Problem& problem) {
  QByteArray bytes;
  QDataStream stream(&bytes, QIODevice::WriteOnly);
  stream << QByteArray::fromStdString(problem.grouping->digest().hex());
  QList<qint32> numbers;
  for (const GroupId group : groups) numbers << group.value();
  stream << numbers;
  auto* data = new QMimeData;
  data->setData(group_drag_type(), bytes);
  data->setText(names_of(groups, *problem.grouping));
  return data;
}

std::vector<GroupId> dragged_groups(const QMimeData& data, const Problem& problem) {
  QDataStream stream(data.data(group_drag_type()));
  QByteArray digest;
  QList<qint32> numbers;
  stream >> digest >> numbers;
  if (stream.status() != QDataStream::Ok || digest.toStdString() != problem.grouping->digest().hex())
    return {};
  std::vector<GroupId> groups;
  for (const qint32 number : numbers) {
    if (number < 0 || static_cast<std::size_t>(number) >= problem.grouping->size()) return {};
    groups.emplace_back(static_cast<std::size_t>(number));
  }
  return groups;
}

DropPlace place_of(const Cluster& cluster, DeviceId device) {
  return {text(cluster.device(device).name), {device}};
}

DropPlace place_of(const Cluster& cluster, DeviceGroupId group) {
  const DeviceGroup& devices = cluster.groups()[group];
  return {text(devices.name), {devices.devices.begin(), devices.devices.end()}};
}

DropPlace place_of(const Cluster& cluster, MachineId machine) {
  DropPlace place{text(cluster.machines()[machine].name), {}};
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    if (cluster.device(DeviceId(d)).machine == machine) place.devices.emplace_back(d);
  }
  return place;
}

std::vector<DropPlace> all_places(const Cluster& cluster) {
  std::vector<DropPlace> places;
  const auto add = [&](DropPlace place, const std::vector<DeviceId>& above) {
    if (place.devices.empty()) return;
    if (place.devices != above) return places.push_back(std::move(place));
    if (above.size() == 1) places.back() = std::move(place);  // goes by the device's name
  };
  for (std::size_t m = 0; m < cluster.machines().size(); ++m) {
    const DropPlace machine = place_of(cluster, MachineId(m));
    add(machine, {});
    for (std::size_t g = 0; g < cluster.groups().size(); ++g) {
      if (cluster.groups()[DeviceGroupId(g)].machine != MachineId(m)) continue;
      const DropPlace group = place_of(cluster, DeviceGroupId(g));
      add(group, machine.devices);
      for (const DeviceId device : group.devices) add(place_of(cluster, device), group.devices);
    }
  }
  return places;
}

void drop_on(Session& session, const std::vector<GroupId>& groups, const DropPlace& place) {
  const Snapshot& snapshot = session.snapshot();
  if (!snapshot.problem || groups.empty() || place.devices.empty()) return;
  session.edit(with_only_devices(snapshot.strategy, groups, place.devices),
               QCoreApplication::translate("strato::DropPlace", "%1: only %2")
                   .arg(names_of(groups, *snapshot.problem->grouping), place.name));
}

void drop_on(Session& session, const std::vector<GroupId>& groups, DeviceGroupId device_group) {
  const auto& problem = session.snapshot().problem;
  if (problem) drop_on(session, groups, place_of(*problem->cluster, device_group));
}

}  // namespace strato
