#include <algorithm>
#include <utility>

#include "core/schedule/dag/levels.h"
#include "plugins/planners/list/baechi/baechi.h"

namespace strato::baechi {
namespace {

using Why = PlanningSteps::Why;

// Fills one device after another, each up to its share.
class MemoryTopo {
 public:
  MemoryTopo(const Dag& dag, const Scheduling& scheduling, bool reserve_groups)
      : dag_(dag), scheduling_(scheduling), reserve_groups_(reserve_groups) {
    Bytes total, largest;
    for (const NodeIndex node : dag.nodes()) {
      total += dag.memory(node);
      largest = std::max(largest, needed(node));
    }
    for (std::size_t d = 0; d < scheduling.device_count(); ++d)
      capacity_.push_back(scheduling.room(DeviceId(d)));
    limit_ = shares_of(total, largest, capacity_);
  }

  std::pair<DeviceId, Why> choose(NodeIndex node) {
    if (const auto there = scheduling_.demanded(node)) return {*there, Why::Colocated};
    const Bytes bytes = needed(node);
    while (filling_ < limit_.size() && used(filling_) + bytes > limit_[filling_]) ++filling_;
    if (filling_ < limit_.size()) return {DeviceId(filling_), Why::NextInOrder};
    return {emptiest(), Why::BestEffort};
  }

 private:
  Bytes needed(NodeIndex node) const {
    return reserve_groups_ ? scheduling_.needed(node) : dag_.memory(node);
  }
  Bytes used(std::size_t device) const {
    return reserve_groups_ ? capacity_[device] - scheduling_.room(DeviceId(device))
                           : scheduling_.memory(DeviceId(device));
  }
  DeviceId emptiest() const {
    std::size_t best = 0;
    for (std::size_t d = 1; d < capacity_.size(); ++d)
      if (capacity_[d] - used(d) > capacity_[best] - used(best)) best = d;
    return DeviceId(best);
  }

  const Dag& dag_;
  const Scheduling& scheduling_;
  const bool reserve_groups_;
  std::vector<Bytes> limit_, capacity_;
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
  Scheduling scheduling(dag, transfers, cluster, {.insert = false, .memory = options.memory});
  MemoryTopo filling(dag, scheduling, options.reserve_groups);
  for (const NodeIndex node : order) {
    const auto [device, why] = filling.choose(node);
    scheduling.place(node, device);
    if (steps == nullptr) continue;
    const Nanos start = scheduling.start(node), finish = scheduling.finish(node);
    steps->steps.push_back({node, device, start, finish, why, {}, {}});
  }
  return std::move(scheduling).finished();
}

}  // namespace strato::baechi
