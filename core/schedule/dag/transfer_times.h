// Transfer times between the devices of a cluster: by size, for graphs that change, and of a dag's
// edges. 0 on one device, and where there are no bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/at.h"
#include "core/cluster/value/cluster.h"
#include "core/cost/value/cost_model.h"
#include "core/schedule/dag/dag.h"

namespace strato {

// A size is asked about once and then has a row of times. Pairs of devices of the same GPU types,
// bandwidth and latency, both inside one machine or not, share theirs where all of the `probes`
// take equally long, too. Refers to the cluster and the cost model until it has its last row. Not
// thread safe.
class PairTimes {
 public:
  PairTimes(const Cluster& cluster, const CostModel& cost, std::span<const Bytes> probes = {});

  std::int32_t row(Bytes bytes);  // the same for the same size
  Bytes bytes(std::int32_t row) const { return sizes_[at(row)]; }
  Nanos longest(std::int32_t row) const { return longest_[at(row)]; }  // over all pairs
  Nanos mean(std::int32_t row) const { return mean_[at(row)]; }        // over ordered pairs
  Nanos time(std::int32_t row, DeviceId from, DeviceId to) const {
    return times_of(row)[class_of(from)[to.index()]];
  }
  // Loops over devices read the row's times directly: times_of(row)[class_of(from)[to.index()]].
  const Nanos* times_of(std::int32_t row) const { return times_.data() + at(row) * pairs_.size(); }
  const std::uint16_t* class_of(DeviceId from) const {
    return class_of_pair_.data() + from.index() * devices_;
  }

 private:
  const CostModel* cost_;
  std::size_t devices_ = 0;
  std::vector<std::uint16_t> class_of_pair_;  // from x to; class 0: a device and itself
  std::vector<Path> example_;                 // by class
  std::vector<std::int64_t> pairs_;           // by class: how many
  std::unordered_map<std::int64_t, std::int32_t> row_of_;
  std::vector<Bytes> sizes_;                   // by row, as the longest and mean times
  std::vector<Nanos> times_, longest_, mean_;  // times: row x class
};

// The times that the bytes of each edge take between two devices, with a few of their sizes as
// probes.
class TransferTimes {
 public:
  TransferTimes(const Dag& dag, const Cluster& cluster, const CostModel& cost);
  Nanos time(std::int32_t edge, DeviceId from, DeviceId to) const {
    return times_->time(row_[at(edge)], from, to);
  }
  Nanos longest(std::int32_t edge) const { return times_->longest(row_[at(edge)]); }
  Nanos mean(std::int32_t edge) const { return times_->mean(row_[at(edge)]); }

 private:
  std::optional<PairTimes> times_;
  std::vector<std::int32_t> row_;  // by edge
};

}  // namespace strato
