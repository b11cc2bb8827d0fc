#include "plugins/planners/learned/autodist/plan/communication_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace strato::autodist {
namespace {

// theta. Messages to and from servers overlap each other, so that of their latency a part counts.
constexpr Components kConstants = {1, 1, 1, 1, 0.25, 1};

// Compute time of all that `op` depends on, and its own, on one device.
Nanos time_until(const Problem& problem, OpId op, GpuTypeId gpu, std::int64_t samples) {
  const Graph& graph = *problem.graph;
  std::vector<char> needed(op.index() + 1, 0);
  needed[op.index()] = 1;
  Nanos sum;
  for (std::size_t i = op.index() + 1; i-- > 0;) {
    if (needed[i] == 0) continue;
    const Op& at = graph.op(OpId(i));
    const bool splits = at.split != Splittability::None;
    sum += problem.cost->compute(OpId(i), gpu, splits ? samples : graph.batch());
    for (const TensorId input : at.inputs)
      if (input.valid() && graph.tensor(input).producer.valid())
        needed[graph.tensor(input).producer.index()] = 1;
  }
  return sum;
}

Nanos first_gradient(const SyncTask& task) {
  const std::vector<DeviceShare>& shares = task.base.groups.front()->devices;
  const auto samples = apportion(task.problem.graph->batch(), shares);
  const OpId made_by = task.problem.graph->tensor(task.variables.front().gradient).producer;
  if (!made_by.valid()) return {};
  Nanos least = Nanos::max();
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (samples[i] > 0)
      least = std::min(least,
                       time_until(task.problem, made_by,
                                  task.problem.cluster->device(shares[i].device).type, samples[i]));
  return least == Nanos::max() ? Nanos() : least;
}

// Bytes a second that enter a device over its port, or with `from_end` 1 its machine.
double way_in(const SyncTask& task, DeviceId from, DeviceId to, std::size_t from_end) {
  const Cluster& cluster = *task.problem.cluster;
  const PathLinks links = cluster.path(from, to).links;
  if (links.size() <= from_end) return std::numeric_limits<double>::infinity();
  return cluster.links()[links[links.size() - 1 - from_end]].bandwidth;
}

void add(Components& sum, const Components& z) {
  for (std::size_t i = 0; i < kComponents; ++i) sum[i] += z[i];
}

double seconds_over(double bytes, std::size_t members, double bandwidth) {
  return members < 2 || bandwidth <= 0 ? 0
                                       : 2 * static_cast<double>(members - 1) * bytes / bandwidth;
}

}  // namespace

double CommunicationModel::combine(const Components& components) {
  return std::inner_product(kConstants.begin(), kConstants.end(), components.begin(), 0.0);
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

Components CommunicationModel::through_server(const Variable& variable, Bytes bytes,
                                              const SyncPart& part) const {
  const Cluster& cluster = *task_.problem.cluster;
  const std::size_t home = task_.machine_of[part.server.index()];
  const double sent = gradient_part(variable, part) * static_cast<double>(bytes.value);
  Components z{};
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
    z[ToServers] += from_here * sent / path.bandwidth;
    z[FromServers] += from_here * static_cast<double>(bytes.value) / path.bandwidth;
    z[ServerCalls] +=
        2 * (from_here + (station ? std::ssize(here) - 1 : 0)) * to_seconds(path.latency);
  }
  z[Local] = local_seconds(Bytes(static_cast<std::int64_t>((senders + 2) * sent)));
  return z;
}

void CommunicationModel::add_collective(Components& z, Collective kind, Bytes bytes, double share,
                                        std::int64_t parts) const {
  const CollectiveCost cost = task_.problem.cost->collective(kind, task_.devices, bytes);
  z[Volume] += share * to_seconds(cost.duration - std::min(cost.latency, cost.duration));
  z[Calls] += to_seconds(cost.latency) / static_cast<double>(parts);
}

void CommunicationModel::add_reduced(Components& z, const Variable& variable, Bytes bytes,
                                     const Message& message, bool rows) const {
  const auto size = static_cast<double>(bytes.value);
  const auto whole =
      static_cast<double>(std::max<std::int64_t>((rows ? variable.bytes : message.bytes).value, 1));
  if (!rows)
    return add_collective(z, Collective::AllReduce, message.bytes, size / whole, message.parts);
  // Of the table's rows those in this part.
  const double sent = static_cast<double>(variable.rows_bytes.value) * size / whole;
  add_collective(z, Collective::AllGather, Bytes(static_cast<std::int64_t>(sent)), 1,
                 message.parts);
}

std::vector<Components> CommunicationModel::of_variables(const SyncPlan& plan) const {
  std::vector<Components> all(plan.size());
  if (task_.devices.size() < 2) return all;
  const std::map<std::int32_t, Message> messages = messages_of(task_, plan);
  for (std::size_t v = 0; v < plan.size(); ++v)
    if (plan[v].parts.size() > 1) all[v][Local] += local_seconds(4 * task_.variables[v].bytes);
  for_each_part(task_, plan, [&](std::size_t v, const SyncPart& part, Bytes bytes) {
    const Variable& variable = task_.variables[v];
    Components& z = all[v];
    if (plan[v].sharded) {
      for (const Collective kind : {Collective::ReduceScatter, Collective::AllGather})
        add_collective(z, kind, bytes, 1, 1);
      return;
    }
    if (part.synchroniser == Synchroniser::Ps) return add(z, through_server(variable, bytes, part));
    const Message message =
        part.merge_group < 0 ? Message{bytes, 1} : messages.at(part.merge_group);
    add_reduced(z, variable, bytes, message, part.encoding == Encoding::SparseRows);
  });
  return all;
}

Components CommunicationModel::of_plan(const SyncPlan& plan) const {
  Components sum{};
  for (const Components& z : of_variables(plan)) add(sum, z);
  if (task_.devices.size() < 2) return sum;
  std::vector<double> in(task_.machines.size()), out = in;
  for_each_part(task_, plan, [&](std::size_t v, const SyncPart& part, Bytes bytes) {
    if (part.synchroniser != Synchroniser::Ps) return;
    const Components z = through_server(task_.variables[v], bytes, part);
    in[task_.machine_of[part.server.index()]] += z[ToServers];
    out[task_.machine_of[part.server.index()]] += z[FromServers];
  });
  sum[ToServers] = *std::ranges::max_element(in);
  sum[FromServers] = *std::ranges::max_element(out);
  return sum;
}

Nanos data_parallel_limit(const SyncTask& task) {
  if (task.variables.empty()) return {};
  double bytes = 0, ports = 0, ways = 0;
  for (const Variable& variable : task.variables)
    if (!variable.sparse) bytes += static_cast<double>(variable.bytes.value);
  for (const DeviceId device : task.devices) {
    double best = 0;  // over the devices that it can hear from
    for (const DeviceId other : task.devices)
      if (other != device) best = std::max(best, way_in(task, other, device, 0));
    ports += best;
  }
  for (const std::vector<DeviceId>& here : task.machines) {
    double best = 0;
    for (const std::vector<DeviceId>& there : task.machines)
      if (&there != &here) best = std::max(best, way_in(task, there.front(), here.front(), 1));
    ways += best;
  }
  const double seconds = std::max(seconds_over(bytes, task.devices.size(), ports),
                                  seconds_over(bytes, task.machines.size(), ways));
  const auto in = [](double time) { return Nanos(static_cast<std::int64_t>(1e9 * time)); };
  const Nanos first = first_gradient(task);
  const bool sharded = std::ranges::any_of(
      task.variables, [](const Variable& variable) { return variable.sharded.has_value(); });
  return sharded ? std::max(in(seconds), first + in(seconds / 2)) : first + in(seconds);
}

}  // namespace strato::autodist
