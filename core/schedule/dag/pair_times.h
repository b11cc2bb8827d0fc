// Transfer times by size, for graphs that change: a size is asked about once and then has a row.
// The same times as TransferTimes (dag.h), whose edges are fixed.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/cluster/value/cluster.h"
#include "core/cost/value/cost_model.h"

namespace strato {

// Pairs of devices of the same GPU types, bandwidth and latency, both inside one machine or not,
// share their times. Refers to the cluster and the cost model. Not thread safe.
class PairTimes {
 public:
  PairTimes(const Cluster& cluster, const CostModel& cost);

  std::int32_t row(Bytes bytes);  // the same for the same size
  Bytes bytes(std::int32_t row) const { return sizes_[static_cast<std::size_t>(row)]; }
  Nanos longest(std::int32_t row) const {  // over all pairs; 0: one device
    return longest_[static_cast<std::size_t>(row)];
  }
  // 0 on one device, and where there are no bytes.
  Nanos time(std::int32_t row, DeviceId from, DeviceId to) const {
    return times_of(row)[class_of(from)[to.index()]];
  }
  // Loops over devices read the row's times directly: times_of(row)[class_of(from)[to.index()]].
  const Nanos* times_of(std::int32_t row) const {
    return times_.data() + static_cast<std::size_t>(row) * classes_;
  }
  const std::uint16_t* class_of(DeviceId from) const {
    return class_of_pair_.data() + from.index() * devices_;
  }

 private:
  const Cluster& cluster_;
  const CostModel& cost_;
  std::size_t devices_ = 0, classes_ = 1;     // class 0: a device and itself
  std::vector<std::uint16_t> class_of_pair_;  // from x to
  std::vector<const Path*> example_;          // by class
  std::unordered_map<std::int64_t, std::int32_t> row_of_;
  std::vector<Bytes> sizes_;
  std::vector<Nanos> times_, longest_;  // row x class, row
};

}  // namespace strato
