#include "plugins/planners/learned/autodist/plan/limit.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace strato::autodist {
namespace {

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
  const std::vector<LinkId>& links = cluster.path(from, to).links;
  if (links.size() <= from_end) return std::numeric_limits<double>::infinity();
  return cluster.links()[links[links.size() - 1 - from_end]].bandwidth;
}

double seconds_over(double bytes, std::size_t members, double bandwidth) {
  return members < 2 || bandwidth <= 0 ? 0
                                       : 2 * static_cast<double>(members - 1) * bytes / bandwidth;
}

}  // namespace

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
