#include "app/cli/study/cluster.h"

#include <fmt/format.h>

#include "app/cli/context.h"
#include "app/cli/samples.h"
#include "core/base/error.h"

namespace strato::cli {

RestrictedCluster restricted_cluster(const std::string& cluster, int gpus_per_machine,
                                     const std::string& column) {
  RestrictedCluster result;
  Json json = Json::parse(load_cluster(cluster)->json());
  for (Json& machine : json["machines"]) {
    const int count = machine.value("count", 1);
    Json& gpus = machine["gpus"];
    const int wanted = gpus_per_machine > 0 ? gpus_per_machine : gpus[0].value("count", 1);
    result.machines += count;
    result.gpus += count * wanted;
    if (gpus.size() != 1 || gpus[0].value("count", 1) < wanted) {
      throw InputError(
          cluster_path(cluster).string(), "machines",
          fmt::format("have no {} equal GPUs each, which column \"{}\" uses", wanted, column),
          "take another cluster or fewer GPUs");
    }
    gpus[0]["count"] = wanted;
  }
  result.json = json.dump();
  return result;
}

}  // namespace strato::cli
