// Binds a strategy by its names again: to the same model, or to another grouping, cluster or model.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/strategy/file/named_strategy.h"

namespace strato {

// A strategy bound to a grouping and cluster, and in words what did not match.
struct Rebound {
  Strategy strategy;
  std::vector<std::string> unmatched;
};

// Each of our groups takes the decision of the file's group that holds most of its ops by time
// (ties: the first in the file); devices that the cluster does not have are dropped, as are ops of
// the order, and duplicated and split ones, that the graph does not have; so is a split along an
// axis that does not divide its op, or with fewer than two devices left, and a variable that the
// graph does not have or cannot divide so, or whose server is gone. `op_times`: of every op of
// the graph, see mean_op_times; empty: every op counts the same.
Rebound bind_strategy(const NamedStrategy& named, const Graph& graph, const Grouping& grouping,
                      const Cluster& cluster, std::span<const Nanos> op_times = {});

// The grouping that the strategy was made with. With the same graph and op_times it is the same to
// the last bit. Ops that the file lacks join the group of their forward op, else that of the first
// op that they read from, else a group of their own.
struct RestoredGrouping {
  Grouping grouping;
  std::vector<std::string> unmatched;
};
RestoredGrouping restore_grouping(const NamedStrategy& named, const Graph& graph,
                                  std::span<const Nanos> op_times);

// Binds the synchronised variables, in a strategy whose groups are bound. One that does not fit is
// left out, with a word in `unmatched`; the others are valid. A part of bind_strategy().
void bind_variables(std::span<const NamedVariable> named, const Graph& graph,
                    const Grouping& grouping, const Cluster& cluster, Rebound& result);

// Bound to it; says of both what did not match.
Rebound bind_strategy(const NamedStrategy& named, const Graph& graph,
                      const RestoredGrouping& restored, const Cluster& cluster,
                      std::span<const Nanos> op_times);

// The strategy as it was when it was named: in the problem's groups where it was made with them,
// else with groups of its own (Strategy::grouping), which hold the ops as the file has them.
// Groups without listed ops are bound as bind_strategy does.
Rebound restore_strategy(const NamedStrategy& named, const Graph& graph, const Grouping& problems,
                         const Cluster& cluster, std::span<const Nanos> op_times);

}  // namespace strato
