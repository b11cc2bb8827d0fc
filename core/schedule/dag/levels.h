// Distances along a dag, and orders of its nodes. Times in nanoseconds; ties go to the smaller
// node.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/schedule/dag/dag.h"
#include "core/schedule/dag/transfer_times.h"

namespace strato {

// The weights of nodes and edges when distances are added up.
struct Weights {
  std::vector<Nanos> node, edge;
};
Weights longest_weights(const Dag& dag, const TransferTimes& transfers);  // FastT 5.1: w_i, c_ij
Weights mean_weights(const Dag& dag, const Cluster& cluster,
                     const TransferTimes& transfers);  // HEFT, Celeritas 5.1

// A dag with what it costs on a cluster: transfers, and mean weights.
struct WeighedDag {
  WeighedDag(Dag given, const Cluster& cluster, const CostModel& cost)
      : dag(std::move(given)),
        transfers(dag, cluster, cost),
        weights(mean_weights(dag, cluster, transfers)) {}
  Dag dag;
  TransferTimes transfers;
  Weights weights;
};

// Longest path from a source to the node without it (Celeritas Equation 2), and from the node, with
// it, to a sink (Equation 3; FastT's rank_u, HEFT's upward rank).
std::vector<Nanos> t_levels(const Dag& dag, const Weights& weights);
std::vector<Nanos> b_levels(const Dag& dag, const Weights& weights);
// Communication over computation (Equation 1); 0 for a dag without work.
double communication_to_computing(const Weights& weights);
// The nodes by descending level; with b-levels that is a topological order.
std::vector<NodeIndex> by_level(std::span<const Nanos> levels);
// The path from the source with the largest b-level on, always to the successor with the largest
// one.
std::vector<NodeIndex> critical_path(const Dag& dag, std::span<const Nanos> b_levels);

// Topological orders: node by place.
std::vector<NodeIndex> m_topo(const Dag& dag);    // breadth first (Baechi; Celeritas 4.2.2)
std::vector<NodeIndex> dfs_topo(const Dag& dag);  // depth first (Celeritas 4.2.2)
std::vector<NodeIndex> cpd_topo(const Dag& dag, const Weights& weights);  // Celeritas 5.1.3

}  // namespace strato
