#include "core/schedule/dag/transfer_times.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

// A few of the sizes, which are each there once, from the smallest to the largest.
std::vector<Bytes> probes_of(std::vector<Bytes> sizes) {
  constexpr std::size_t kProbes = 8;
  std::ranges::sort(sizes);
  std::vector<Bytes> probes;
  for (std::size_t i = 0; i < kProbes && !sizes.empty(); ++i)
    probes.push_back(sizes[i * (sizes.size() - 1) / (kProbes - 1)]);
  return probes;
}

}  // namespace

PairTimes::PairTimes(const Cluster& cluster, const CostModel& cost, std::span<const Bytes> probes)
    : cost_(&cost), devices_(cluster.device_count()), example_{{}}, pairs_{0} {
  using Kind = std::tuple<GpuTypeId, GpuTypeId, bool, double, Nanos, std::vector<Nanos>>;
  std::map<Kind, std::uint16_t> class_of_kind;
  class_of_pair_.assign(devices_ * devices_, 0);
  for (std::size_t i = 0; i < class_of_pair_.size(); ++i) {
    const DeviceId from(i / devices_), to(i % devices_);
    if (from == to) continue;
    const Device &a = cluster.device(from), &b = cluster.device(to);
    const Path& path = cluster.path(from, to);
    Kind kind{a.type, b.type, a.machine == b.machine, path.bandwidth, path.latency, {}};
    for (const Bytes probe : probes) std::get<5>(kind).push_back(cost.transfer(path, probe));
    const auto [known, fresh] =
        class_of_kind.try_emplace(std::move(kind), static_cast<std::uint16_t>(example_.size()));
    CHECK(example_.size() < 65'000, "too many kinds of paths");
    if (fresh) {
      example_.push_back(path);
      pairs_.push_back(0);
    }
    class_of_pair_[i] = known->second;
    ++pairs_[known->second];
  }
}

std::int32_t PairTimes::row(Bytes bytes) {
  const auto [known, fresh] =
      row_of_.try_emplace(bytes.value, static_cast<std::int32_t>(sizes_.size()));
  if (!fresh) return known->second;
  sizes_.push_back(bytes);
  times_.emplace_back();
  Nanos& longest = longest_.emplace_back();
  __int128 sum = 0;
  for (std::size_t c = 1; c < pairs_.size(); ++c) {
    const Nanos time = bytes.value > 0 ? cost_->transfer(example_[c], bytes) : Nanos();
    times_.push_back(time);
    longest = std::max(longest, time);
    sum += static_cast<__int128>(time.value) * pairs_[c];
  }
  const auto all = static_cast<__int128>(std::max<std::size_t>(1, devices_ * (devices_ - 1)));
  mean_.emplace_back(static_cast<std::int64_t>(sum / all));
  return known->second;
}

TransferTimes::TransferTimes(const Dag& dag, const Cluster& cluster, const CostModel& cost) {
  std::unordered_map<std::int64_t, std::int32_t> row_of;
  std::vector<Bytes> sizes;
  row_.reserve(dag.edge_count());
  for (const std::int32_t edge : dag.edges()) {
    const Bytes bytes = dag.bytes(edge);
    const auto [known, fresh] =
        row_of.try_emplace(bytes.value, static_cast<std::int32_t>(sizes.size()));
    if (fresh) sizes.push_back(bytes);
    row_.push_back(known->second);
  }
  times_.emplace(cluster, cost, probes_of(sizes));
  for (const Bytes size : sizes) times_->row(size);
}

}  // namespace strato
