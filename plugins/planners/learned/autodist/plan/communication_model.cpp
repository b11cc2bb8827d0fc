#include "plugins/planners/learned/autodist/plan/communication_model.h"

#include <algorithm>
#include <map>

namespace strato::autodist {
namespace {

// theta. Messages to and from servers overlap each other, so that of their latency a part counts.
constexpr Components kConstants = {1, 1, 1, 1, 0.25, 1};

using Message = CommunicationModel::Message;

std::map<std::int32_t, Message> messages_of(const SyncTask& task, const SyncPlan& plan) {
  std::map<std::int32_t, Message> messages;
  for (std::size_t v = 0; v < plan.size(); ++v)
    for (std::size_t p = 0; p < plan[v].parts.size(); ++p) {
      const std::int32_t group = plan[v].parts[p].merge_group;
      if (group < 0) continue;
      messages[group].bytes += part_bytes(task.variables[v], plan[v], p);
      ++messages[group].parts;
    }
  return messages;
}

}  // namespace

CommunicationModel::CommunicationModel(const SyncTask& task) : task_(task) {}

double CommunicationModel::combine(const Components& components) {
  double sum = 0;
  for (std::size_t i = 0; i < kComponents; ++i) sum += kConstants[i] * components[i];
  return sum;
}

double CommunicationModel::local_seconds(Bytes bytes) const {
  const GpuTypeId type = task_.problem.cluster->device(task_.devices.front()).type;
  return to_seconds(task_.problem.cost->local_move(type, bytes));
}

// Returns what a replica sends of a gradient's bytes.
double CommunicationModel::gradient_part(const Variable& variable, const SyncPart& part) const {
  if (part.encoding != Encoding::SparseRows) return 1;
  const double rows =
      static_cast<double>(variable.rows_bytes.value) / static_cast<double>(task_.devices.size());
  return std::min(1.0, rows / static_cast<double>(std::max<std::int64_t>(variable.bytes.value, 1)));
}

CommunicationModel::Traffic CommunicationModel::through_server(const Variable& variable,
                                                               Bytes bytes,
                                                               const SyncPart& part) const {
  const Cluster& cluster = *task_.problem.cluster;
  const std::size_t home = task_.machine_of[part.server.index()];
  const double sent = gradient_part(variable, part) * static_cast<double>(bytes.value);
  Traffic traffic;
  double senders = 0;
  for (std::size_t m = 0; m < task_.machines.size(); ++m) {
    const std::vector<DeviceId>& here = task_.machines[m];
    const bool station = std::ranges::any_of(part.stations, [&](DeviceId device) {
      return m != home && task_.machine_of[device.index()] == m;
    });
    const bool away = here.front() != part.server;
    const Path& path = cluster.path(away ? here.front() : here.back(), part.server);
    const auto from_here = static_cast<double>(station     ? 1
                                               : m == home ? std::ssize(here) - 1
                                                           : std::ssize(here));
    if (from_here == 0 || path.bandwidth == 0) continue;
    senders += from_here;
    // On the way between machines what is sent and what comes back do not meet.
    traffic.in += from_here * sent / path.bandwidth;
    traffic.out += from_here * static_cast<double>(bytes.value) / path.bandwidth;
    traffic.calls +=
        2 * (from_here + (station ? std::ssize(here) - 1 : 0)) * to_seconds(path.latency);
  }
  traffic.local = local_seconds(Bytes(static_cast<std::int64_t>((senders + 2) * sent)));
  return traffic;
}

// A collective's part of one of those who share it.
void CommunicationModel::add_reduced(Components& z, const Variable& variable, Bytes bytes,
                                     Message message, bool rows) const {
  const auto whole = static_cast<double>(std::max<std::int64_t>(message.bytes.value, 1));
  const double share = rows ? 1 : static_cast<double>(bytes.value) / whole;
  if (rows)  // of the table's rows those in this part
    message.bytes = Bytes(static_cast<std::int64_t>(
        static_cast<double>(variable.rows_bytes.value) * static_cast<double>(bytes.value) /
        static_cast<double>(std::max<std::int64_t>(variable.bytes.value, 1))));
  const CollectiveCost cost = task_.problem.cost->collective(
      rows ? Collective::AllGather : Collective::AllReduce, task_.devices, message.bytes);
  z[Volume] += share * to_seconds(cost.duration - std::min(cost.latency, cost.duration));
  z[Calls] += to_seconds(cost.latency) / static_cast<double>(message.parts);
}

void CommunicationModel::add_sharded(Components& z, Bytes bytes) const {
  for (const Collective kind : {Collective::ReduceScatter, Collective::AllGather}) {
    const CollectiveCost cost = task_.problem.cost->collective(kind, task_.devices, bytes);
    z[Volume] += to_seconds(cost.duration - std::min(cost.latency, cost.duration));
    z[Calls] += to_seconds(cost.latency);
  }
}

void CommunicationModel::add_served(Components& z, const Variable& variable, Bytes bytes,
                                    const SyncPart& part) const {
  const Traffic traffic = through_server(variable, bytes, part);
  z[ToServers] += traffic.in;
  z[FromServers] += traffic.out;
  z[ServerCalls] += traffic.calls;
  z[Local] += traffic.local;
}

std::vector<Components> CommunicationModel::of_variables(const SyncPlan& plan) const {
  std::vector<Components> all(plan.size());
  if (task_.devices.size() < 2) return all;
  const std::map<std::int32_t, Message> messages = messages_of(task_, plan);
  for (std::size_t v = 0; v < plan.size(); ++v) {
    const Variable& variable = task_.variables[v];
    if (plan[v].parts.size() > 1) all[v][Local] += local_seconds(4 * variable.bytes);
    for (std::size_t p = 0; p < plan[v].parts.size(); ++p) {
      const SyncPart& part = plan[v].parts[p];
      const Bytes bytes = part_bytes(variable, plan[v], p);
      if (plan[v].sharded) {
        add_sharded(all[v], bytes);
        continue;
      }
      if (part.synchroniser == Synchroniser::Ps) {
        add_served(all[v], variable, bytes, part);
        continue;
      }
      const Message message =
          part.merge_group < 0 ? Message{bytes, 1} : messages.at(part.merge_group);
      add_reduced(all[v], variable, bytes, message, part.encoding == Encoding::SparseRows);
    }
  }
  return all;
}

Components CommunicationModel::of_plan(const SyncPlan& plan) const {
  Components sum{};
  for (const Components& z : of_variables(plan))
    for (std::size_t i = 0; i < kComponents; ++i) sum[i] += z[i];
  if (task_.devices.size() < 2) return sum;
  std::vector<double> in(task_.machines.size()), out = in;
  for (std::size_t v = 0; v < plan.size(); ++v)
    for (std::size_t p = 0; p < plan[v].parts.size(); ++p) {
      const SyncPart& part = plan[v].parts[p];
      if (part.synchroniser != Synchroniser::Ps) continue;
      const Traffic traffic =
          through_server(task_.variables[v], part_bytes(task_.variables[v], plan[v], p), part);
      in[task_.machine_of[part.server.index()]] += traffic.in;
      out[task_.machine_of[part.server.index()]] += traffic.out;
    }
  sum[ToServers] = *std::ranges::max_element(in);
  sum[FromServers] = *std::ranges::max_element(out);
  return sum;
}

}  // namespace strato::autodist
