#include "views/models/drop_place.h"

#include <QCoreApplication>

#include "views/style/text.h"

namespace strato {

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

void drop_on(Session& session, const Carried& carried, const DropPlace& place) {
  const Snapshot& shown = session.snapshot();
  if (!shown.problem || carried.is_empty() || place.devices.empty()) return;
  const QString label = QCoreApplication::translate("strato::DropPlace", "%1 onto %2")
                            .arg(names_of(carried, *shown.problem), place.name);
  if (!carried.ops.empty()) return session.edit_later(onto(carried, place.devices), label);
  const std::vector<Nanos> no_times;  // nothing is regrouped
  const Regrouping from{*shown.problem, *shown.opened, shown.strategy, no_times};
  session.edit(with_carried_on(from, carried, place.devices), label);
}

}  // namespace strato
