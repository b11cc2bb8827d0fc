// What clusters cost, and that it changes nothing else.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/vary/changed_cluster.h"
#include "core/io/json.h"

namespace strato {
namespace {

constexpr const char* kCluster = R"({
  "format": "stratoscope-cluster", "version": 1, "name": "two kinds",
  "gpu_types": [{"name": "Toy", "memory_bytes": 1000000000, "memory_bandwidth_GBps": 100,
                 "peak_tflops": {"fp32": 10}}],
  "machines": [
    {"name": "a", "gpus": [{"type": "Toy", "count": 1}], "nic": {"bandwidth_GBps": 1}},
    {"name": "b", "count": 2, "gpus": [{"type": "Toy", "count": 1}], "nic": {"bandwidth_GBps": 2}}
  ],
  "network": {"latency_us": 1}
})";

Cluster with_prices(const Json& first, const Json& second) {
  Json json = Json::parse(kCluster);
  if (!first.is_null()) json["machines"][0]["price_per_hour"] = first;
  if (!second.is_null()) json["machines"][1]["price_per_hour"] = second;
  return parse_cluster(json.dump(), "c.json", GpuCatalogue());
}

TEST(Price, OfEveryMachine) {
  const auto price = price_of(with_prices(3.06, 1.5));
  ASSERT_TRUE(price);
  EXPECT_EQ(price->per_hour, (IdVector<MachineId, double>{3.06, 1.5, 1.5}));
  EXPECT_DOUBLE_EQ(price->total(), 6.06);
}

TEST(Price, NoneIsNotZero) {
  EXPECT_FALSE(price_of(with_prices({}, {})));
  const auto free = price_of(with_prices(0, 0));
  ASSERT_TRUE(free);
  EXPECT_EQ(free->total(), 0);
}

TEST(Price, IsNoPartOfTheDigest) {
  EXPECT_EQ(with_prices({}, {}).digest(), with_prices(3, 4).digest());
}

TEST(Price, IsKeptInTheDescriptionAndWithMoreMachines) {
  const auto cluster = std::make_shared<const Cluster>(with_prices(3, 4));
  const Cluster again = parse_cluster(cluster->json(), "c.json", GpuCatalogue());
  EXPECT_DOUBLE_EQ(price_of(again)->total(), 11);
  ClusterChange change;
  change.machines["b"] = 5;
  EXPECT_DOUBLE_EQ(price_of(*change_cluster(cluster, change).cluster)->total(), 23);
}

TEST(Price, BadOnesAreRefusedAtTheirPlace) {
  const auto message = [](const Json& first, const Json& second) -> std::string {
    try {
      with_prices(first, second);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_TRUE(message(-1, 1).starts_with("c.json: machines[0].price_per_hour")) << message(-1, 1);
  EXPECT_TRUE(message(1, 1e9).starts_with("c.json: machines[1].price_per_hour"));
  EXPECT_TRUE(message("3 $", 1).starts_with("c.json: machines[0].price_per_hour"));
  EXPECT_TRUE(message(Json::array(), 1).starts_with("c.json: machines[0].price_per_hour"));
  EXPECT_TRUE(message(3, {}).starts_with("c.json: machines[1]: has no \"price_per_hour\""))
      << message(3, {});
  EXPECT_TRUE(message({}, 3).starts_with("c.json: machines[0]: has no \"price_per_hour\""));
}

}  // namespace
}  // namespace strato
