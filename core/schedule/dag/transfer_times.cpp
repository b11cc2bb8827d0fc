#include "core/schedule/dag/transfer_times.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "core/base/error.h"

namespace strato {
namespace {

// A few of the sizes, from the smallest to the largest: two pairs of devices for which all of these
// take equally long are taken for equal.
constexpr std::size_t kProbes = 8;
using Probes = std::array<Bytes, kProbes>;
using Signature = std::array<Nanos, kProbes>;

Probes probes_of(std::span<const Bytes> sizes) {
  std::vector<Bytes> sorted(sizes.begin(), sizes.end());
  std::ranges::sort(sorted);
  Probes probes;
  for (std::size_t i = 0; i < kProbes; ++i)
    probes[i] = sorted.empty() ? Bytes(1) : sorted[i * (sorted.size() - 1) / (kProbes - 1)];
  return probes;
}

// Numbers values as they come; open addressing, because a dag has many edges and few sizes.
class SizeNumbers {
 public:
  std::int32_t number(Bytes bytes) {
    if (sizes.size() * 2 >= slots_.size()) grow();
    std::int32_t& slot = slots_[place(bytes)];
    if (slot < 0) {
      slot = static_cast<std::int32_t>(sizes.size());
      sizes.push_back(bytes);
    }
    return slot;
  }
  std::vector<Bytes> sizes;

 private:
  std::size_t place(Bytes bytes) const {
    const std::size_t mask = slots_.size() - 1;
    auto at = static_cast<std::size_t>(
        (static_cast<std::uint64_t>(bytes.value) * 0x9e3779b97f4a7c15u) >> 32);
    while (slots_[at & mask] >= 0 && sizes[static_cast<std::size_t>(slots_[at & mask])] != bytes)
      ++at;
    return at & mask;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(64, slots_.size() * 4), -1);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      slots_[place(sizes[i])] = static_cast<std::int32_t>(i);
  }
  std::vector<std::int32_t> slots_;  // a power of two of them
};

}  // namespace

std::vector<Bytes> TransferTimes::number_sizes(const Dag& dag) {
  SizeNumbers numbers;
  size_of_edge_.resize(dag.edge_count());
  for (std::size_t e = 0; e < dag.edge_count(); ++e)
    size_of_edge_[e] = numbers.number(dag.bytes(static_cast<std::int32_t>(e)));
  return std::move(numbers.sizes);
}

// Returns, for each class, its first pair (from x devices + to).
std::vector<std::int64_t> TransferTimes::classify_pairs(const Cluster& cluster,
                                                        const CostModel& cost,
                                                        std::span<const Bytes> sizes) {
  const Probes probes = probes_of(sizes);
  std::map<Signature, std::int32_t> known;
  std::vector<std::int64_t> first;
  class_of_pair_.assign(devices_ * devices_, 0);
  for (std::size_t pair = 0; pair < devices_ * devices_; ++pair) {
    const DeviceId from(pair / devices_), to(pair % devices_);
    if (from == to) continue;
    Signature signature;
    for (std::size_t i = 0; i < kProbes; ++i)
      signature[i] = cost.transfer(cluster.path(from, to), probes[i]);
    const auto [at, fresh] = known.try_emplace(signature, static_cast<std::int32_t>(first.size()));
    if (fresh) first.push_back(static_cast<std::int64_t>(pair));
    class_of_pair_[pair] = at->second;
  }
  return first;
}

TransferTimes::TransferTimes(const Dag& dag, const Cluster& cluster, const CostModel& cost)
    : devices_(cluster.device_count()) {
  const std::vector<Bytes> sizes = number_sizes(dag);
  const std::vector<std::int64_t> first = classify_pairs(cluster, cost, sizes);
  classes_ = first.size();
  std::vector<std::int64_t> pairs(classes_, 0);  // in each class
  for (std::size_t pair = 0; pair < class_of_pair_.size(); ++pair)
    if (pair / devices_ != pair % devices_) ++pairs[static_cast<std::size_t>(class_of_pair_[pair])];
  time_.assign(sizes.size() * classes_, Nanos());
  longest_.assign(sizes.size(), Nanos());
  mean_.assign(sizes.size(), Nanos());
  const auto all = static_cast<__int128>(devices_ * (devices_ - 1));
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    if (sizes[s] <= Bytes(0) || classes_ == 0) continue;
    __int128 sum = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      const auto pair = static_cast<std::size_t>(first[c]);
      const Path& path = cluster.path(DeviceId(pair / devices_), DeviceId(pair % devices_));
      const Nanos time = time_[s * classes_ + c] = cost.transfer(path, sizes[s]);
      longest_[s] = std::max(longest_[s], time);
      sum += static_cast<__int128>(time.value) * pairs[c];
    }
    mean_[s] = Nanos(static_cast<std::int64_t>(sum / all));
  }
}

}  // namespace strato
