#include "core/program/value/ordered_ring.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"

namespace strato {

CollectiveCost ordered_ring(const Cluster& cluster, const CostModel& cost, Collective kind,
                            std::span<const DeviceId> sequence, Bytes bytes) {
  const auto members = static_cast<std::int64_t>(sequence.size());
  CHECK(members >= 2, "a ring of one");
  CHECK(kind == Collective::AllReduce || kind == Collective::AllGather, "no ring of this kind");
  const auto next = [&](std::size_t i) { return sequence[(i + 1) % sequence.size()]; };
  std::map<LinkId, int> crossings;
  for (std::size_t i = 0; i < sequence.size(); ++i)
    for (const LinkId link : cluster.path(sequence[i], next(i)).links) ++crossings[link];
  const Bytes part((bytes.value + members - 1) / members);
  const std::int64_t steps = (kind == Collective::AllReduce ? 2 : 1) * (members - 1);
  Nanos longest(1), latency;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    // Who has a share of a link's bandwidth takes as long as who has all of it for more bytes, also
    // where transfers were measured.
    const Path& path = cluster.path(sequence[i], next(i));
    double share = path.bandwidth;
    for (const LinkId link : path.links)
      share = std::min(share, cluster.links()[link].bandwidth / crossings[link]);
    const double moved = std::ceil(static_cast<double>(part.value) * (path.bandwidth / share));
    longest = std::max(longest, cost.transfer(path, Bytes(static_cast<std::int64_t>(moved))));
    latency = std::max(latency, path.latency);
  }
  CollectiveCost result;
  result.duration = longest * steps;
  result.latency = std::min(latency * steps, result.duration);
  for (const auto& [link, count] : crossings) result.links.push_back(link);
  return result;
}

}  // namespace strato
