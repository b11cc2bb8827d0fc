#include "plugins/planners/list/baechi/memory_topo.h"

#include <algorithm>
#include <utility>

#include "core/base/at.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/placement.h"

namespace strato::baechi {
namespace {

using Why = PlanningSteps::Why;

class MemoryTopo {
 public:
  MemoryTopo(const Dag& dag, const Cluster& cluster, const MemoryTopoOptions& options)
      : dag_(dag),
        options_(options),
        used_(cluster.device_count()),
        group_at_(at(dag.colocation_count())),
        group_memory_(at(dag.colocation_count())) {
    Bytes total, largest;
    for (NodeIndex node = 0; at(node) < dag.size(); ++node) {
      total += dag.memory(node);
      if (const auto group = dag.colocation(node); group >= 0)
        group_memory_[at(group)] += dag.memory(node);
    }
    for (NodeIndex node = 0; at(node) < dag.size(); ++node)
      largest = std::max(largest, needed(node));
    for (std::size_t d = 0; d < used_.size(); ++d)
      capacity_.push_back(Bytes(static_cast<std::int64_t>(
          options.memory * static_cast<double>(cluster.gpu(DeviceId(d)).memory.value))));
    limit_ = shares_of(total, largest, capacity_);
  }

  std::pair<DeviceId, Why> take(NodeIndex node) {
    const auto group = dag_.colocation(node);
    if (group >= 0 && group_at_[at(group)].valid()) {
      const DeviceId device = group_at_[at(group)];
      if (!options_.reserve_groups) used_[device.index()] += dag_.memory(node);
      return {device, Why::Colocated};
    }
    const Bytes bytes = needed(node);
    while (filling_ < used_.size() && used_[filling_] + bytes > limit_[filling_]) ++filling_;
    const bool has_room = filling_ < used_.size();
    const DeviceId device = has_room ? DeviceId(filling_) : emptiest();
    used_[device.index()] += bytes;
    if (group >= 0) group_at_[at(group)] = device;
    return {device, has_room ? Why::NextInOrder : Why::BestEffort};
  }

 private:
  Bytes needed(NodeIndex node) const {
    const auto group = dag_.colocation(node);
    return group >= 0 && options_.reserve_groups ? group_memory_[at(group)] : dag_.memory(node);
  }

  DeviceId emptiest() const {
    std::size_t best = 0;
    for (std::size_t d = 1; d < used_.size(); ++d)
      if (capacity_[d] - used_[d] > capacity_[best] - used_[best]) best = d;
    return DeviceId(best);
  }

  const Dag& dag_;
  MemoryTopoOptions options_;
  std::vector<Bytes> used_, limit_, capacity_;
  std::vector<DeviceId> group_at_;
  std::vector<Bytes> group_memory_;
  std::size_t filling_ = 0;
};

}  // namespace

std::vector<Bytes> shares_of(Bytes total, Bytes largest, std::vector<Bytes> capacities) {
  std::vector<Bytes> ascending = capacities;
  std::ranges::sort(ascending);
  Bytes level;
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    const auto sharers = static_cast<std::int64_t>(ascending.size() - i);
    level = Bytes((total.value + sharers - 1) / sharers);
    if (level <= ascending[i]) break;
    total -= ascending[i];
  }
  for (Bytes& limit : capacities) limit = std::min(limit, level + largest);
  return capacities;
}

Schedule memory_topo(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
                     const MemoryTopoOptions& options, PlanningSteps* steps) {
  const std::vector<NodeIndex> order = m_topo(dag);
  if (steps != nullptr) {
    std::vector<Nanos> levels = t_levels(dag, mean_weights(dag, cluster, transfers));
    steps->ranking = {"breadth-first order (m-TOPO)", std::move(levels), order, {}};
  }
  MemoryTopo filling(dag, cluster, options);
  Scheduling scheduling(dag, transfers, cluster, {.insert = false, .memory = options.memory});
  for (const NodeIndex node : order) {
    const auto [device, why] = filling.take(node);
    scheduling.place(node, device);
    if (steps == nullptr) continue;
    const Nanos start = scheduling.start(node), finish = scheduling.finish(node);
    steps->steps.push_back({node, device, start, finish, why, {}, {}});
  }
  return std::move(scheduling).finished();
}

}  // namespace strato::baechi
