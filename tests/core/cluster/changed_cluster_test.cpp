#include "core/cluster/vary/changed_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "tests/paths.h"

namespace strato {
namespace {

std::shared_ptr<const Cluster> shared_sample(const std::string& name) {
  return std::make_shared<const Cluster>(
      read_cluster(std::string(kSourceFolder) + "/sample_graphs/clusters/" + name + ".json",
                   GpuCatalogue::bundled()));
}

std::size_t devices_of(const Cluster& cluster, const std::string& machine) {
  return static_cast<std::size_t>(std::ranges::count_if(
      cluster.devices(),
      [&](const Device& device) { return device.name.starts_with(machine + ":"); }));
}

TEST(ChangedCluster, KindsOfTheTestbed) {
  const auto cluster = shared_sample("tag-testbed");
  const std::vector<MachineKind> kinds = machine_kinds(*cluster);
  ASSERT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[0].name, "v100");
  EXPECT_EQ(kinds[1].name, "1080ti");
  EXPECT_EQ(kinds[1].machines.size(), 4u);
  EXPECT_EQ(kinds[2].name, "p100");
}

// What the names have in common ends within a character: E4 B9 99 and E4 B8 99.
TEST(ChangedCluster, NamesAreNotCutWithinACharacter) {
  for (const auto& [first, second] :
       {std::pair("\xE4\xB9\x99", "\xE4\xB8\x99"), std::pair("gpu-\xC3\xA9", "gpu-\xC3\xA8")}) {
    std::string machines;
    for (const std::string name : {first, second})
      machines += (machines.empty() ? "" : ", ") + ("{\"name\": \"" + name) +
                  R"(", "gpus": [{"type": "GTX-1080-Ti", "count": 1}],
          "fabric": {"bandwidth_GBps": 12, "latency_us": 4}, "nic": {"bandwidth_GBps": 10, "latency_us": 5}})";
    const auto cluster = std::make_shared<const Cluster>(parse_cluster(
        R"({"format": "stratoscope-cluster", "version": 1, "name": "toy", "machines": [)" +
            machines + R"(], "network": {"latency_us": 1}})",
        "toy", GpuCatalogue::bundled()));
    const std::vector<MachineKind> kinds = machine_kinds(*cluster);
    ASSERT_EQ(kinds.size(), 1u);
    EXPECT_TRUE(kinds[0].name == first || kinds[0].name == "gpu") << kinds[0].name;
    ClusterChange change;
    change.machines[kinds[0].name] = 5;
    EXPECT_EQ(change_cluster(cluster, change).cluster->device_count(), 5u);
  }
}

TEST(ChangedCluster, NothingIsTheSameCluster) {
  const auto cluster = shared_sample("tag-testbed");
  EXPECT_EQ(change_cluster(cluster, {}).cluster, cluster);
}

// Of every sample: same paths, same names.
TEST(ChangedCluster, AsManyMachinesAsNowChangesNoPath) {
  for (const auto& entry : std::filesystem::directory_iterator(std::string(kSourceFolder) +
                                                               "/sample_graphs/clusters")) {
    if (entry.path().extension() != ".json") continue;
    const auto cluster = shared_sample(entry.path().stem().string());
    ClusterChange change;
    for (const MachineKind& kind : machine_kinds(*cluster))
      change.machines[kind.name] = static_cast<std::int64_t>(kind.machines.size());
    const ChangedCluster same = change_cluster(cluster, change);
    ASSERT_EQ(same.cluster->digest(), cluster->digest()) << entry.path();
    for (std::size_t d = 0; d < cluster->device_count(); ++d) {
      EXPECT_EQ(same.instead[DeviceId(d)], DeviceId(d));
      EXPECT_EQ(same.like[DeviceId(d)], DeviceId(d));
    }
  }
}

TEST(ChangedCluster, FactorsReachTheLinksThatTheyAreAbout) {
  const auto cluster = shared_sample("tag-testbed");
  ClusterChange change;
  change.network_bandwidth = 1.25;
  change.machine_bandwidth = 0.75;  // the network's cards remain what is shared
  change.latency = 4;
  change.memory = 3;
  const auto now = change_cluster(cluster, change).cluster;
  ASSERT_EQ(now->links().size(), cluster->links().size());
  for (std::size_t i = 0; i < now->links().size(); ++i) {
    const Link &before = cluster->links()[LinkId(i)], &after = now->links()[LinkId(i)];
    ASSERT_EQ(after.name, before.name);
    const bool network = before.name.ends_with(">net") || before.name.starts_with("net>");
    EXPECT_DOUBLE_EQ(after.bandwidth, before.bandwidth * (network ? 1.25 : 0.75)) << before.name;
    EXPECT_EQ(after.latency, before.latency * 4) << before.name;
  }
  EXPECT_EQ(now->gpu(DeviceId(0)).memory, cluster->gpu(DeviceId(0)).memory * 3);
}

TEST(ChangedCluster, MoreMachinesAreCopiesAtTheEnd) {
  const auto cluster = shared_sample("tag-testbed");
  ClusterChange change;
  change.machines = {{"v100", 3}};
  const ChangedCluster more = change_cluster(cluster, change);
  EXPECT_EQ(more.cluster->device_count(), cluster->device_count() + 8);
  EXPECT_EQ(devices_of(*more.cluster, "v100-1"), 4u);
  for (std::size_t d = 0; d < cluster->device_count(); ++d) {
    EXPECT_EQ(more.cluster->device(DeviceId(d)).name, cluster->device(DeviceId(d)).name);
    EXPECT_EQ(more.instead[DeviceId(d)], DeviceId(d));
  }
  const DeviceId copy = more.cluster->find_device("v100-2:3");
  ASSERT_TRUE(copy.valid());
  EXPECT_EQ(cluster->device(more.like[copy]).name, "v100:3");
}

TEST(ChangedCluster, FewerMachinesLeaveTheFirst) {
  const auto cluster = shared_sample("tag-testbed");
  ClusterChange change;
  change.machines = {{"1080ti", 1}, {"p100", 0}};
  const ChangedCluster fewer = change_cluster(cluster, change);
  EXPECT_EQ(fewer.cluster->device_count(), 4u + 2u);
  EXPECT_EQ(fewer.instead[cluster->find_device("1080ti-3:1")],
            fewer.cluster->find_device("1080ti-0:1"));
  EXPECT_FALSE(fewer.instead[cluster->find_device("p100-0:0")].valid());
}

TEST(ChangedCluster, RefusesNonsense) {
  const auto cluster = shared_sample("tag-testbed");
  const auto message = [&](const ClusterChange& change) -> std::string {
    try {
      change_cluster(cluster, change);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  ClusterChange change;
  for (const double factor : {0.0, -1.0, 1e9, std::nan("")}) {
    change.network_bandwidth = factor;
    EXPECT_NE(message(change).find("network bandwidth"), std::string::npos) << factor;
  }
  change = {};
  change.machines = {{"a100", 1}};
  EXPECT_NE(message(change).find("kinds: v100, 1080ti, p100"), std::string::npos);
  change.machines = {{"v100", 0}, {"1080ti", 0}, {"p100", 0}};
  EXPECT_NE(message(change).find("none is left"), std::string::npos);
  change.machines = {{"v100", -1}};
  EXPECT_NE(message(change).find("give 0 to"), std::string::npos);
  change.machines = {{"v100", 16000}};
  EXPECT_NE(message(change).find("devices in all"), std::string::npos);
}

// Other GPUs at the same places: paths and names stay, what machines cost is not known any more.
TEST(ChangedCluster, OtherGpusAreAtTheSamePlaces) {
  const auto cluster = shared_sample("tag-testbed");
  ClusterChange change;
  change.gpus = {{"1080ti", "A100-SXM4-40GB"}};
  const ChangedCluster other = change_cluster(cluster, change);
  ASSERT_EQ(other.cluster->device_count(), cluster->device_count());
  EXPECT_EQ(other.like, other.instead);
  for (std::size_t d = 0; d < cluster->device_count(); ++d) {
    const std::string& name = cluster->device(DeviceId(d)).name;
    EXPECT_EQ(other.cluster->device(DeviceId(d)).name, name);
    EXPECT_EQ(other.cluster->gpu(DeviceId(d)).name == "A100-SXM4-40GB", name.starts_with("1080ti"));
  }
  ASSERT_EQ(other.cluster->gpu_types().size(), 3u);  // those in use, and no other
  ASSERT_EQ(other.cluster->links().size(), cluster->links().size());
  for (std::size_t i = 0; i < cluster->links().size(); ++i)
    EXPECT_EQ(other.cluster->links()[LinkId(i)].bandwidth, cluster->links()[LinkId(i)].bandwidth);
}

TEST(ChangedCluster, TheSameGpusAreTheSameCluster) {
  const auto cluster = shared_sample("tag-testbed");
  ClusterChange change;
  change.gpus = {{"v100", cluster->gpu(DeviceId(0)).name}};
  EXPECT_EQ(change_cluster(cluster, change).cluster->digest(), cluster->digest());
}

// A GPU that another kind has already, and machines that go: no type is listed that nobody has.
TEST(ChangedCluster, OtherGpusAndFewerMachines) {
  const auto cluster = shared_sample("tag-testbed");
  ClusterChange change;
  change.gpus = {{"1080ti", cluster->gpu(DeviceId(0)).name}};
  change.machines = {{"p100", 0}};
  const auto now = change_cluster(cluster, change).cluster;
  EXPECT_EQ(now->gpu_types().size(), 1u);
  change.gpus = {{"1080ti", "H900"}};
  EXPECT_THROW(change_cluster(cluster, change), InputError);
  change.gpus = {{"a100", "T4"}};
  EXPECT_THROW(change_cluster(cluster, change), InputError);
}

TEST(ChangedCluster, FasterDevicesAreGpusOfTheirOwn) {
  const auto cluster = shared_sample("tag-testbed");
  EXPECT_EQ(with_device_speed(cluster, 1), cluster);
  const auto fast = with_device_speed(cluster, 2);
  ASSERT_EQ(fast->device_count(), cluster->device_count());
  for (std::size_t d = 0; d < cluster->device_count(); ++d) {
    const GpuType &before = cluster->gpu(DeviceId(d)), &now = fast->gpu(DeviceId(d));
    EXPECT_EQ(now.name, before.name + " x2");
    EXPECT_DOUBLE_EQ(now.memory_bandwidth, before.memory_bandwidth * 2);
    EXPECT_EQ(now.memory, before.memory);
  }
  EXPECT_THROW(with_device_speed(cluster, 0), InputError);
  EXPECT_THROW(with_device_speed(cluster, std::nan("")), InputError);
  EXPECT_EQ(with_name(cluster, "mine")->name(), "mine");
}

}  // namespace
}  // namespace strato
