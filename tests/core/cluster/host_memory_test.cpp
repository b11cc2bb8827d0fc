// The memory of hosts, and the ways there.
#include <gtest/gtest.h>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"
#include "core/io/json.h"

namespace strato {
namespace {

Json described(int machines, const char* fabric, bool host_link, bool memory) {
  Json machine = {{"name", "m"},
                  {"count", machines},
                  {"gpus", {{{"type", "V100"}, {"count", 2}}}},
                  {"fabric", {{"kind", fabric}, {"bandwidth_GBps", 150}, {"latency_us", 2}}},
                  {"nic", {{"bandwidth_GBps", 12.5}, {"latency_us", 6}}}};
  if (host_link) machine["host_link"] = {{"bandwidth_GBps", 12}, {"latency_us", 4}};
  if (memory) machine["host_memory_bytes"] = 1 << 30;
  return {{"format", "stratoscope-cluster"},
          {"version", 1},
          {"name", "some"},
          {"machines", Json::array({machine})},
          {"network", {{"latency_us", 1}}}};
}

Cluster read(const Json& json) {
  return parse_cluster(json.dump(), "c.json", GpuCatalogue::bundled());
}
std::string way(const Cluster& cluster, const Path& path) {
  return path.links.empty() ? "none" : cluster.links()[path.links[0]].name;
}
std::string way_to_host(const Cluster& cluster) {
  return way(cluster, cluster.path_to_host(DeviceId(0)));
}

TEST(HostMemory, IsReachedOverTheHostLinkOrPcie) {
  EXPECT_EQ(way_to_host(read(described(1, "nvlink2", true, true))), "m:0>host");
  EXPECT_EQ(way_to_host(read(described(2, "nvlink2", true, true))), "m-0:0>host");
  EXPECT_EQ(way_to_host(read(described(1, "PCIe3x16", false, true))), "m:0>fabric");
  EXPECT_EQ(way_to_host(read(described(1, "pcie3x16", true, true))), "m:0>host");
  EXPECT_EQ(way_to_host(read(described(2, "nvlink2", false, true))), "none");
  EXPECT_EQ(way_to_host(read(described(2, "nvlink2", true, false))), "none");
}

TEST(HostMemory, HasAWayBack) {
  const Cluster cluster = read(described(1, "nvlink2", true, true));
  EXPECT_EQ(way(cluster, cluster.path_from_host(DeviceId(1))), "host>m:1");
  EXPECT_EQ(cluster.path_from_host(DeviceId(1)).bandwidth, 12e9);
  EXPECT_EQ(cluster.path_from_host(DeviceId(1)).latency, Nanos(4000));
  EXPECT_EQ(cluster.machines()[MachineId(0)].host_memory, Bytes(1 << 30));
}

// Without it a cluster is what it was: its links and its digest.
TEST(HostMemory, ChangesNothingWhereThereIsNone) {
  const Cluster none = read(described(1, "nvlink2", true, false)),
                with = read(described(1, "nvlink2", true, true)),
                more = read([] {
                  Json json = described(1, "nvlink2", true, true);
                  json["machines"][0]["host_memory_bytes"] = std::int64_t{2} << 30;
                  return json;
                }());
  EXPECT_EQ(none.links().size(), 4u);
  EXPECT_EQ(with.links().size(), 8u);
  EXPECT_EQ(none.json().find("host_memory"), std::string::npos);
  EXPECT_NE(none.digest(), with.digest());
  EXPECT_NE(more.digest(), with.digest());
  // GPUs reach each other over the fabric, as before.
  EXPECT_EQ(way(with, with.path(DeviceId(0), DeviceId(1))), "m:0>fabric");
  const Cluster again = parse_cluster(with.json(), "again.json", GpuCatalogue());
  EXPECT_EQ(again.digest(), with.digest());
}

}  // namespace
}  // namespace strato
