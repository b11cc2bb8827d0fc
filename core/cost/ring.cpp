#include "core/cost/ring.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {
namespace {

struct Ring {
  std::vector<LinkId> links;  // ascending
  double bandwidth = 0;       // of the slowest hop, with every hop busy
  Nanos latency;              // of the slowest hop
};

Ring make_ring(const Cluster& cluster, std::span<const DeviceId> devices) {
  Ring ring;
  std::vector<std::uint16_t> hops(cluster.links().size());  // that use the link
  std::size_t used = 0;
  DeviceId last = devices.back();
  for (const DeviceId device : devices) {
    const Path& path = cluster.path(last, device);
    ring.latency = std::max(ring.latency, path.latency);
    for (const LinkId link : path.links) used += hops[link.index()]++ == 0 ? 1 : 0;
    last = device;
  }
  ring.links.reserve(used);
  ring.bandwidth = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < hops.size(); ++i) {
    if (hops[i] == 0) continue;
    ring.links.push_back(LinkId(i));
    ring.bandwidth = std::min(ring.bandwidth, cluster.links()[LinkId(i)].bandwidth / hops[i]);
  }
  return ring;
}

// How often each byte of the tensor crosses the slowest hop, and how many latencies follow each
// other.
struct Rounds {
  double volume;
  std::int64_t steps;
};

Rounds rounds_of(Collective kind, std::int64_t members) {
  const double part = static_cast<double>(members - 1) / static_cast<double>(members);
  switch (kind) {
    case Collective::AllReduce:
      return {2 * part, 2 * (members - 1)};
    case Collective::AllGather:
    case Collective::ReduceScatter:
      return {part, members - 1};
    case Collective::Broadcast:
    case Collective::Reduce:
      return {1, members - 1};  // a pipeline along the ring
  }
  CHECK(false, "unknown collective");
}

}  // namespace

CollectiveCost ring_collective(const Cluster& cluster, Collective kind,
                               std::span<const DeviceId> devices, Bytes bytes) {
  CHECK(devices.size() >= 2, "a collective has at least two members");
  Ring ring = make_ring(cluster, devices);
  const Rounds rounds = rounds_of(kind, static_cast<std::int64_t>(devices.size()));
  const double seconds = rounds.volume * static_cast<double>(bytes.value) / ring.bandwidth;
  const Nanos latency = ring.latency * rounds.steps;
  return {latency + nanos_from_seconds(seconds), std::move(ring.links), latency,
          CollectiveAlgorithm::Ring};
}

}  // namespace strato
