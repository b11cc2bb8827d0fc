// Random ways to synchronise variables, all of them valid.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "core/strategy/value/variable_check.h"

namespace strato {

struct RandomVariables {
  const Graph& graph;
  const Grouping& grouping;
  const Cluster& cluster;
  std::mt19937_64& random;
  bool lossy = false;  // may take lossy encodings, and be stale
  bool sparse = true;  // may take sparse rows

  std::int64_t below(std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
  }
  DeviceId device() {
    return DeviceId(
        static_cast<std::size_t>(below(static_cast<std::int64_t>(cluster.device_count()))));
  }

  Encoding encoding(OpId update) {
    const std::int64_t choice = below(5);
    if (choice == 1 && sparse && looked_up_rows(graph, update) > 0) return Encoding::SparseRows;
    if (choice == 2 && lossy) return Encoding::Half;
    if (choice == 3 && lossy) return Encoding::TopK;
    if (choice == 4 && lossy && is_matrix(graph.tensor(graph.op(update).inputs[0])))
      return Encoding::LowRank;
    return Encoding::None;
  }

  SyncPart ps(OpId update) {
    SyncPart part{Synchroniser::Ps, encoding(update), device(), {}, -1, {}};
    std::set<MachineId> machines;
    for (std::int64_t i = below(3); i > 0; --i)
      if (const DeviceId station = device();
          machines.insert(cluster.device(station).machine).second)
        part.stations.push_back(station);
    std::ranges::sort(part.stations);
    return part;
  }

  // Of replicas in any order: what a merge group shares.
  std::vector<DeviceId> sequence(const std::optional<Decision>& decision) {
    if (!decision || below(3) > 0) return {};
    std::vector<DeviceId> sequence;
    for (const DeviceShare& share : decision->devices) sequence.push_back(share.device);
    std::ranges::shuffle(sequence, random);
    return sequence;
  }

  SyncPart reduction(OpId update, const Strategy& strategy) {
    SyncPart part;
    part.encoding = encoding(update);
    const bool merges = part.encoding == Encoding::None && below(2) == 0;
    if (merges)
      part.merge_group = static_cast<std::int32_t>(below(3));
    else
      part.sequence = sequence(strategy.groups[grouping.group_of(update)]);
    return part;
  }

  // Along each of the first axes one, two or three parts.
  std::vector<std::int32_t> partition(const Shape& shape) {
    std::vector<std::int32_t> partition;
    for (const std::int64_t extent : shape)
      partition.push_back(static_cast<std::int32_t>(1 + below(std::min<std::int64_t>(3, extent))));
    if (shape.size() > kMostCutAxes) partition.resize(kMostCutAxes);
    return partition;
  }

  VariableSync variable(OpId update, const Strategy& strategy) {
    if (below(6) == 0 && !gradient_products(graph, update).empty())
      return {update, 0, {{Synchroniser::AllReduce, Encoding::SufficientFactors, {}, {}, -1, {}}}};
    const Shape& shape = graph.tensor(graph.op(update).inputs[0]).shape;
    VariableSync variable{update, 0, {}};
    std::int64_t most = 1;
    if (!shape.empty() && below(3) == 0) {
      divide(variable, partition(shape));
      most = 0;
    } else if (!shape.empty() && below(2) == 0) {
      variable.axis = static_cast<int>(below(static_cast<std::int64_t>(shape.size())));
      most = std::min<std::int64_t>(4, shape[static_cast<std::size_t>(variable.axis)]);
    }
    if (most > 0) variable.parts.resize(static_cast<std::size_t>(1 + below(most)));
    for (SyncPart& part : variable.parts)
      part = below(2) ? ps(update) : reduction(update, strategy);
    if (variable.parts.size() == 1 && shape.empty()) variable.axis = 0;
    const bool served = std::ranges::all_of(
        variable.parts, [](const SyncPart& part) { return part.synchroniser == Synchroniser::Ps; });
    if (lossy && served && below(2) == 0) variable.staleness = 1 + static_cast<int>(below(3));
    return variable;
  }

  // For about three of four variables.
  std::vector<VariableSync> variables(const Strategy& strategy) {
    std::vector<VariableSync> result;
    for (std::size_t i = 0; i < graph.op_count(); ++i)
      if (parameter_of(graph, OpId(i)).valid() && below(4) > 0)
        result.push_back(variable(OpId(i), strategy));
    return result;
  }
};

}  // namespace strato
