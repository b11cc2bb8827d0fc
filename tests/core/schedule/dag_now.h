// An edited dag and its schedule as if they had been so from the start, for the tests of edits.
#pragma once

#include <algorithm>
#include <vector>

#include "core/schedule/list/dpos.h"
#include "core/schedule/list/schedule.h"

namespace strato {

// The nodes that are there, in a topological order.
inline std::vector<NodeIndex> nodes_now(const EditableDag& dag) {
  std::vector<NodeIndex> alive;
  for (std::size_t i = 0; i < dag.size(); ++i)
    if (const auto node = static_cast<NodeIndex>(i); dag.has(node)) alive.push_back(node);
  std::ranges::sort(alive, {}, [&](NodeIndex node) { return dag.key(node); });
  return alive;
}

// The dag with these nodes, numbered in this order. `bytes_of`: of an edge, by its half.
template <class BytesOf>
Dag dag_now(const EditableDag& dag, std::size_t gpu_types, const BytesOf& bytes_of) {
  const std::vector<NodeIndex> alive = nodes_now(dag);
  std::vector<NodeIndex> number_of(dag.size(), -1);
  DagBuilder builder(gpu_types);
  for (const NodeIndex node : alive) {
    std::vector<Nanos> times;
    for (std::size_t t = 0; t < gpu_types; ++t) times.push_back(dag.time(node, GpuTypeId(t)));
    number_of[at(node)] = builder.add_node(times, dag.memory(node), dag.colocation(node));
  }
  for (const NodeIndex node : alive)
    for (const EditableDag::Half& half : dag.successors(node))
      builder.add_edge(number_of[at(node)], number_of[at(half.node)], bytes_of(half));
  return std::move(builder).build();
}
inline Dag dag_now(const Dpos& dpos, const Cluster& cluster) {
  return dag_now(dpos.dag(), cluster.gpu_types().size(),
                 [&](const EditableDag::Half& half) { return dpos.transfer_bytes(half); });
}

// The schedule of the nodes of dag_now().
inline Schedule schedule_now(const Dpos& dpos, const Cluster& cluster) {
  Schedule schedule;
  schedule.memory.resize(cluster.device_count());
  for (const NodeIndex node : nodes_now(dpos.dag())) {
    schedule.device.push_back(dpos.device(node));
    schedule.start.push_back(dpos.start(node));
    schedule.finish.push_back(dpos.finish(node));
    schedule.memory[dpos.device(node).index()] += dpos.dag().memory(node);
  }
  schedule.makespan = dpos.makespan();
  for (std::size_t d = 0; d < schedule.memory.size(); ++d)
    schedule.fits = schedule.fits && schedule.memory[d] <= cluster.gpu(DeviceId(d)).memory;
  return schedule;
}

}  // namespace strato
