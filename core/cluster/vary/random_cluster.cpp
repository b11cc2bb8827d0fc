#include "core/cluster/vary/random_cluster.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/io/json.h"

namespace strato {
namespace {

constexpr double kBitsPerByte = 8;
// Of a machine's fabric and of its network card, in 10^9 bits per second, drawn as whole numbers.
constexpr int kLeastIntra = 64, kMostIntra = 160, kLeastInter = 20, kMostInter = 50;

int between(Random& random, int least, int most) {
  return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}

Json link(double gbps, double latency_us) {
  return {{"bandwidth_GBps", gbps / kBitsPerByte}, {"latency_us", latency_us}};
}

void check_range(const char* what, int least, int most) {
  if (1 <= least && least <= most) return;
  throw InputError("", "random cluster",
                   fmt::format("{} from {} to {} is empty", what, least, most),
                   "give a range of positive numbers");
}

void check(const RandomClusterOptions& options) {
  check_range("machines", options.least_machines, options.most_machines);
  check_range("GPUs a machine", options.least_gpus, options.most_gpus);
  if (options.gpus.empty())
    throw InputError("", "random cluster", "there is no GPU to choose from", "name at least one");
}

// Everything is drawn, also what a machine of one GPU does not use: one draw never moves another.
Json random_machine(Random& random, const RandomClusterOptions& options, int index) {
  const int count = between(random, options.least_gpus, options.most_gpus);
  const std::string& gpu = options.gpus[random.below(options.gpus.size())];
  const int intra = between(random, kLeastIntra, kMostIntra);
  const int inter = between(random, kLeastInter, kMostInter);
  return {{"name", fmt::format("machine-{}", index)},
          {"gpus", Json::array({{{"type", gpu}, {"count", count}}})},
          {"fabric", link(intra, 4)},
          {"nic", link(inter, 6)}};
}

}  // namespace

Cluster random_cluster(std::uint64_t seed, const RandomClusterOptions& options,
                       const GpuCatalogue& catalogue) {
  check(options);
  Random random(seed);
  const std::string name = fmt::format("random {}", seed);
  Json json = {{"format", "stratoscope-cluster"},
               {"version", 1},
               {"name", name},
               {"note", "drawn at random as TAG 5.2 describes"},
               {"machines", Json::array()},
               {"network", {{"latency_us", 1}}}};
  const int machines = between(random, options.least_machines, options.most_machines);
  for (int i = 0; i < machines; ++i) json["machines"].push_back(random_machine(random, options, i));
  return parse_cluster(json.dump(), name, catalogue);
}

}  // namespace strato
