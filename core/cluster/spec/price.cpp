#include "core/cluster/spec/price.h"

#include <numeric>

#include "core/cluster/spec/cluster_spec.h"
#include "core/cluster/spec/gpu_catalogue.h"

namespace strato {

double ClusterPrice::total() const {
  return std::accumulate(per_hour.begin(), per_hour.end(), 0.0);
}

std::optional<ClusterPrice> price_of(const Cluster& cluster) {
  const ClusterSpec spec =
      read_spec(JsonView::parse(cluster.json(), cluster.name()), GpuCatalogue());
  ClusterPrice price;
  for (const MachineSpec& machine : spec.machines) {
    if (!machine.price_per_hour) return std::nullopt;
    for (std::int64_t i = 0; i < machine.count; ++i)
      price.per_hour.push_back(*machine.price_per_hour);
  }
  return price;
}

}  // namespace strato
