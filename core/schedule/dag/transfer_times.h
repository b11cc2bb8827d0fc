// Transfer times of a dag's edges between the devices of a cluster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cluster/value/cluster.h"
#include "core/cost/value/cost_model.h"
#include "core/schedule/dag/dag.h"

namespace strato {

// The times that the bytes of each edge take between two devices: 0 on one device, and where there
// are no bytes. Edges of equal size share their times, and so do pairs of devices between which all
// of them take equally long. Refers to nothing that it was made from.
class TransferTimes {
 public:
  TransferTimes(const Dag& dag, const Cluster& cluster, const CostModel& cost);
  Nanos time(std::int32_t edge, DeviceId from, DeviceId to) const {
    if (from == to) return {};
    const std::int32_t kind = class_of_pair_[from.index() * devices_ + to.index()];
    return time_[size_index(edge) * classes_ + static_cast<std::size_t>(kind)];
  }
  Nanos longest(std::int32_t edge) const { return longest_[size_index(edge)]; }  // over all pairs
  Nanos mean(std::int32_t edge) const { return mean_[size_index(edge)]; }  // over ordered pairs

 private:
  std::size_t size_index(std::int32_t edge) const {
    return static_cast<std::size_t>(size_of_edge_[static_cast<std::size_t>(edge)]);
  }
  std::vector<Bytes> number_sizes(const Dag& dag);
  std::vector<std::int64_t> classify_pairs(const Cluster& cluster, const CostModel& cost,
                                           std::span<const Bytes> sizes);

  std::size_t devices_ = 0, classes_ = 0;
  std::vector<std::int32_t> class_of_pair_, size_of_edge_;
  std::vector<Nanos> time_;            // size x class
  std::vector<Nanos> longest_, mean_;  // by size
};

}  // namespace strato
