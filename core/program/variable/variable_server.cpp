#include "core/program/variable/variable_server.h"

#include <algorithm>
#include <map>

namespace strato {

DeviceId VariableServer::station_of(const SyncedPart& part, DeviceId replica) const {
  const MachineId machine = cluster_.device(replica).machine;
  if (machine == cluster_.device(part.sync->server).machine) return part.sync->server;
  for (const DeviceId station : part.sync->stations)
    if (cluster_.device(station).machine == machine) return station;
  return part.sync->server;
}

// The sum of the terms that replicas send to a station, as it is sent on.
GradientTerm VariableServer::collect(const SyncedPart& part, DeviceId station) {
  std::vector<GradientTerm> terms;
  const auto all = sync_.replicas(part);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].device == part.sync->server || station_of(part, all[i].device) != station) continue;
    const bool here = all[i].device == station;
    terms.push_back(here ? sync_.cut(part, i, Encoding::None)
                         : sync_.send(part, sync_.outgoing(part, i), station));
  }
  if (terms.size() == 1 && terms[0].encoding == part.sync->encoding) return terms[0];
  return sync_.encode(part, sync_.add_up(part, station, terms));
}

std::vector<GradientTerm> VariableServer::terms_at_server(const SyncedPart& part) {
  const DeviceId server = part.sync->server;
  std::vector<DeviceId> collected;
  std::vector<GradientTerm> terms;
  const auto all = sync_.replicas(part);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const DeviceId replica = all[i].device, station = station_of(part, replica);
    if (replica == server) {
      terms.push_back(sync_.cut(part, i, Encoding::None));
    } else if (station == server) {
      terms.push_back(sync_.send(part, sync_.outgoing(part, i), server));
    } else if (std::ranges::find(collected, station) == collected.end()) {
      collected.push_back(station);
      terms.push_back(sync_.send(part, collect(part, station), server));
    }
  }
  return terms;
}

// From staleness 2 on the update begins with the sum that was kept, and this step's sum is kept.
void VariableServer::serve(const SyncedPart& part) {
  const DeviceId server = part.sync->server;
  const std::vector<GradientTerm> terms = terms_at_server(part);
  if (part.staleness < 2)
    return send_back(part, sync_.update(part, server, sync_.add_up(part, server, terms)));
  Instance kept;
  kept.device = server;
  const TaskId updated = sync_.update(part, server, {kept, Encoding::None});
  const GradientTerm sum = sync_.add_up(part, server, terms);
  emitter_.depend(updated);
  sync_.keep(part, sum.at, part.bytes);
  send_back(part, updated);
}

// To the stations first: they have others to send it to.
void VariableServer::send_back(const SyncedPart& part, TaskId updated) {
  const DeviceId server = part.sync->server;
  Instance value;
  value.task = updated;
  value.device = server;
  std::map<DeviceId, Instance> at;  // stations
  for (const Shard& replica : sync_.replicas(part)) {
    const DeviceId station = station_of(part, replica.device);
    if (station != server && !at.contains(station))
      at[station] = sync_.send_value(part, value, station);
  }
  at[server] = value;
  for (const Shard& replica : sync_.replicas(part))
    if (!at.contains(replica.device))
      sync_.send_value(part, at.at(station_of(part, replica.device)), replica.device);
}

}  // namespace strato
