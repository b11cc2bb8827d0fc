#include "core/schedule/dag/pair_times.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/error.h"

namespace strato {

PairTimes::PairTimes(const Cluster& cluster, const CostModel& cost)
    : cluster_(cluster), cost_(cost), devices_(cluster.device_count()) {
  using Kind = std::tuple<GpuTypeId, GpuTypeId, bool, double, Nanos>;
  std::map<Kind, std::uint16_t> class_of_kind;
  class_of_pair_.assign(devices_ * devices_, 0);
  example_.push_back(nullptr);
  for (std::size_t i = 0; i < class_of_pair_.size(); ++i) {
    const DeviceId from(i / devices_), to(i % devices_);
    if (from == to) continue;
    const Device &a = cluster.device(from), &b = cluster.device(to);
    const Path& path = cluster.path(from, to);
    const Kind kind{a.type, b.type, a.machine == b.machine, path.bandwidth, path.latency};
    const auto [at, fresh] =
        class_of_kind.try_emplace(kind, static_cast<std::uint16_t>(example_.size()));
    CHECK(example_.size() < 65'000, "too many kinds of paths");
    if (fresh) example_.push_back(&path);
    class_of_pair_[i] = at->second;
  }
  classes_ = example_.size();
}

std::int32_t PairTimes::row(Bytes bytes) {
  const auto [at, fresh] =
      row_of_.try_emplace(bytes.value, static_cast<std::int32_t>(sizes_.size()));
  if (!fresh) return at->second;
  sizes_.push_back(bytes);
  times_.emplace_back();
  longest_.emplace_back();
  for (std::size_t c = 1; c < classes_; ++c) {
    times_.push_back(bytes.value > 0 ? cost_.transfer(*example_[c], bytes) : Nanos());
    longest_.back() = std::max(longest_.back(), times_.back());
  }
  return at->second;
}

}  // namespace strato
