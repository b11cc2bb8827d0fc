// Small dags, and the best of all their schedules.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/schedule.h"
#include "tests/core/search/toy.h"

namespace strato::exact {

// A cluster with the costs of its links.
struct Ground {
  explicit Ground(std::shared_ptr<const Cluster> devices)
      : problem(toy::chain_problem(std::move(devices), 1)) {}
  const Cluster& cluster() const { return *problem.cluster; }
  Problem problem;
};

struct DagOptions {
  std::size_t most_nodes = 5;
  double edge_chance = 0.4;
  std::int64_t most_memory = 0;  // MB, of a node
  bool colocate = false;
};

inline Dag random_dag(Random& random, const Cluster& cluster, const DagOptions& options) {
  const std::size_t types = cluster.gpu_types().size();
  const std::size_t nodes = 1 + random.below(options.most_nodes);
  DagBuilder builder(types);
  for (std::size_t i = 0; i < nodes; ++i) {
    std::vector<Nanos> times;
    const bool nothing = random.below(8) == 0;
    for (std::size_t t = 0; t < types; ++t)
      times.emplace_back(nothing ? 0 : 1000 * (1 + random.below(300)));
    const Bytes memory(1'000'000 * static_cast<std::int64_t>(random.below(
                                       static_cast<std::uint64_t>(options.most_memory) + 1)));
    const bool grouped = options.colocate && random.below(2) == 0;
    builder.add_node(times, memory, grouped ? static_cast<std::int32_t>(random.below(2)) : -1);
  }
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t j = i + 1; j < nodes; ++j)
      if (random.uniform() < options.edge_chance)
        builder.add_edge(static_cast<NodeIndex>(i), static_cast<NodeIndex>(j),
                         Bytes(static_cast<std::int64_t>(random.below(2'000'000))));
  return std::move(builder).build();
}

// All placements and all orders, one node after another at the end of its device; a node that takes
// no time waits for its inputs alone.
class BruteForce {
 public:
  BruteForce(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster)
      : dag_(dag), transfers_(transfers), cluster_(cluster) {}

  // Nothing: no placement fits.
  std::optional<Nanos> shortest() {
    device_.assign(dag_.size(), 0);
    place(0);
    return best_;
  }

 private:
  std::size_t at(NodeIndex node) const { return static_cast<std::size_t>(node); }

  void place(std::size_t node) {
    if (node < dag_.size()) {
      for (device_[node] = 0; device_[node] < cluster_.device_count(); ++device_[node])
        if (keeps_together(node)) place(node + 1);
      return;
    }
    if (!fits()) return;
    finish_.assign(dag_.size(), Nanos());
    done_.assign(dag_.size(), 0);
    free_.assign(cluster_.device_count(), Nanos());
    order(0, Nanos());
  }

  bool keeps_together(std::size_t node) const {
    const std::int32_t group = dag_.colocation(static_cast<NodeIndex>(node));
    for (std::size_t other = 0; other < node && group >= 0; ++other)
      if (dag_.colocation(static_cast<NodeIndex>(other)) == group &&
          device_[other] != device_[node])
        return false;
    return true;
  }

  bool fits() const {
    std::vector<Bytes> used(cluster_.device_count());
    for (std::size_t i = 0; i < dag_.size(); ++i)
      used[device_[i]] += dag_.memory(static_cast<NodeIndex>(i));
    for (std::size_t d = 0; d < used.size(); ++d)
      if (used[d] > cluster_.gpu(DeviceId(d)).memory) return false;
    return true;
  }

  void order(std::size_t count, Nanos makespan) {
    if (best_ && makespan >= *best_) return;
    if (count == dag_.size()) {
      best_ = makespan;
      return;
    }
    for (std::size_t i = 0; i < dag_.size(); ++i) {
      if (done_[i] != 0) continue;
      const auto node = static_cast<NodeIndex>(i);
      const Nanos time = dag_.time(node, cluster_.device(DeviceId(device_[i])).type);
      Nanos start = time > Nanos() ? free_[device_[i]] : Nanos();
      bool ready = true;
      for (const DagEdge& edge : dag_.predecessors(node)) {
        ready = ready && done_[at(edge.node)] != 0;
        start = std::max(start, finish_[at(edge.node)] +
                                    transfers_.time(edge.edge, DeviceId(device_[at(edge.node)]),
                                                    DeviceId(device_[i])));
      }
      if (!ready) continue;
      const Nanos before = free_[device_[i]];
      done_[i] = 1;
      finish_[i] = start + time;
      if (time > Nanos()) free_[device_[i]] = finish_[i];
      order(count + 1, std::max(makespan, finish_[i]));
      done_[i] = 0;
      free_[device_[i]] = before;
    }
  }

  const Dag& dag_;
  const TransferTimes& transfers_;
  const Cluster& cluster_;
  std::vector<std::size_t> device_;
  std::vector<Nanos> finish_, free_;
  std::vector<char> done_;
  std::optional<Nanos> best_;
};

}  // namespace strato::exact
