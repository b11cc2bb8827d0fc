#include "core/launch/measured/smaller_memory.h"

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/json.h"

namespace strato {

std::shared_ptr<const Cluster> with_memory(const Cluster& cluster, GpuTypeId type, Bytes memory) {
  CHECK(memory > Bytes(0), "a GPU has memory");
  Json json = Json::parse(cluster.json());
  for (Json& gpu : json.at("gpu_types"))
    if (gpu.at("name") == cluster.gpu_types()[type].name) gpu["memory_bytes"] = memory.value;
  return std::make_shared<const Cluster>(
      parse_cluster(json.dump(), cluster.name(), GpuCatalogue()));
}

}  // namespace strato
