// Slurm's topology.conf and the nodes of slurm.conf: trees, oversubscription, host lists.

#include "core/cluster/read/slurm_topology.h"

#include <gtest/gtest.h>

#include <random>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/slurm/hostlist.h"
#include "core/cluster/spec/cluster_spec.h"
#include "core/cluster/vary/changed_cluster.h"
#include "tests/message_of.h"

namespace strato {
namespace {

const char* const kTree =
    "# a fat tree\n"
    "SwitchName=leaf1 Nodes=n[01-02]  LinkSpeed=900\n"
    "switchname=leaf2 nodes=n[03-04]  # another one\n"
    "SwitchName=spine \\\n"
    "  Switches=leaf[1-2]\n";
const char* const kNodes = "NodeName=n[01-04] CPUs=96 Gres=gpu:h100:8(S:0-1),nvme:2\n";
const char* const kNic = "# nic: 8 x 400 Gb/s\n";

Cluster slurm_made(const std::string& text) {
  return parse_cluster(slurm_cluster(text, "topology.conf", GpuCatalogue::bundled()), "made",
                       GpuCatalogue());
}
std::string slurm_refusal(const std::string& text) {
  return message_of([&] { slurm_made(text); });
}
void expect_slurm(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
}
double gbps_between(const Cluster& cluster, const char* from, const char* to) {
  return cluster.path(cluster.find_device(from), cluster.find_device(to)).bandwidth / 1e9;
}

std::vector<std::string> hosts_of(const char* list) {
  return hosts_in(list, 1000).value_or(std::vector<std::string>{"none"});
}

TEST(Hostlist, NamesAreMultipliedAndKeepTheirZeros) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(hosts_of("n[08-10]"), (Names{"n08", "n09", "n10"}));
  EXPECT_EQ(hosts_of("a,n[1,3-4],b"), (Names{"a", "n1", "n3", "n4", "b"}));
  EXPECT_EQ(hosts_of("r[1-2]n[01-02]x"), (Names{"r1n01x", "r1n02x", "r2n01x", "r2n02x"}));
  for (const char* bad : {"n[1-", "n]1[", "n[2-1]", "n[a-b]", "n[[1]]", "n[-1]", "n[]"})
    EXPECT_EQ(hosts_of(bad), Names{"none"}) << bad;
}

TEST(Hostlist, WhatIsTooLongIsCountedAndNotMade) {
  EXPECT_FALSE(hosts_in("n[1-1000000000]", 1000));
  EXPECT_FALSE(hosts_in("a[0-99999]b[0-99999]c[0-99999]d[0-99999]", 1000));
  EXPECT_FALSE(hosts_in("a[0-999999999999],b[0-999999999999]", 1000));
  EXPECT_EQ(hosts_in("n[1-1000]", 1000)->size(), 1000u);
}

TEST(SlurmTopology, NodesOfALeafMeetAtFullSpeedAndLeavesOverTheirUplinks) {
  const Cluster cluster =
      slurm_made(std::string(kTree) + kNodes + kNic + "# oversubscription: 4\n");
  ASSERT_EQ(cluster.device_count(), 32u);
  EXPECT_EQ(cluster.machines().size(), 4u);
  EXPECT_EQ(cluster.gpu(DeviceId(0)).name, "H100-SXM5-80GB");
  EXPECT_DOUBLE_EQ(gbps_between(cluster, "n01:0", "n01:7"), 18 * 25);
  // A GPU alone is held by its PCIe; a leaf's uplinks are 2 nodes x 400 GB/s / 4.
  EXPECT_DOUBLE_EQ(gbps_between(cluster, "n01:0", "n02:0"), 0.8 * 16 * 3.938);
  EXPECT_DOUBLE_EQ(gbps_between(cluster, "n01:0", "n03:0"), 0.8 * 16 * 3.938);
  const Path within = cluster.path(cluster.find_device("n01:0"), cluster.find_device("n02:0"));
  const Path across = cluster.path(cluster.find_device("n01:0"), cluster.find_device("n04:3"));
  EXPECT_EQ(across.links.size(), within.links.size() + 2);
  EXPECT_EQ(cluster.links()[across.links[2]].name, "leaf1>network");
  EXPECT_DOUBLE_EQ(cluster.links()[across.links[2]].bandwidth / 1e9, 2 * 400 / 4.0);
  EXPECT_EQ(cluster.links()[across.links[3]].name, "network>leaf2");
  const Cluster other = slurm_made(std::string(kTree) + kNodes + kNic + "# uplinks: 80 Gb/s\n");
  EXPECT_DOUBLE_EQ(gbps_between(other, "n01:0", "n03:0"), 10);
  EXPECT_NE(cluster.digest(), other.digest());
}

TEST(SlurmTopology, WithoutALineTheSwitchesAreWideEnoughAndItSaysSo) {
  const Cluster cluster = slurm_made(std::string(kTree) + kNodes + kNic);
  EXPECT_DOUBLE_EQ(gbps_between(cluster, "n01:0", "n03:0"), 0.8 * 16 * 3.938);
  expect_slurm(cluster.json(), "the switches taken as wide enough");
  expect_slurm(cluster.json(), "LinkSpeed has no unit");
}

TEST(SlurmTopology, ALineNamesTheGpusAndNodesWithoutAnyAreLeftOut) {
  const Cluster named = slurm_made(std::string(kTree) + kNic + "gpu: A100-SXM4-80GB x 4\n");
  EXPECT_EQ(named.device_count(), 16u);
  const Cluster bare = slurm_made(std::string(kTree) + kNic +
                                  "# gpu: L40S\nNodeName=DEFAULT Gres=gpu:2\nNodeName=n[01-03]\n"
                                  "NodeName=n04 Gres=nvme:1\n");
  EXPECT_EQ(bare.device_count(), 6u);
  EXPECT_EQ(bare.gpu(DeviceId(0)).name, "L40S");
  expect_slurm(bare.json(), "1 without GPUs left out");
}

TEST(SlurmTopology, ANodeOfSeveralSwitchesCountsWithTheFirst) {
  const Cluster cluster = slurm_made(
      "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[2-3]\n# gpu: T4 x 1\n# nic: 100 Gb/s\n");
  EXPECT_EQ(cluster.device_count(), 3u);
  expect_slurm(cluster.json(), "count with the first");
}

TEST(SlurmTopology, ABlockOfGb200IsOneNvlinkDomain) {
  const Cluster cluster = slurm_made(
      "BlockName=b1 Nodes=t[01-18]\nBlockName=b2 Nodes=t[19-36]\nBlockSizes=18\n"
      "NodeName=t[01-36] Gres=gpu:gb200:4\n# nic: 4 x 400 Gb/s\n");
  EXPECT_EQ(cluster.machines().size(), 2u);
  EXPECT_EQ(cluster.device_count(), 144u);
  EXPECT_DOUBLE_EQ(gbps_between(cluster, "b1:0", "b1:71"), 18 * 50);
}

TEST(SlurmTopology, WhatIsMissingIsSaid) {
  expect_slurm(slurm_refusal(std::string(kTree) + kNic), "nothing says which GPUs node n01 has");
  expect_slurm(slurm_refusal(std::string(kTree) + kNodes), "# nic: 8 x 400 Gb/s");
  expect_slurm(slurm_refusal(std::string(kTree) + "NodeName=n[01-04] Gres=gpu:8\n" + kNic),
               "Gres does not say which GPUs they are");
  expect_slurm(slurm_refusal("SwitchName=a Switches=b\n"), "switch b is not there");
  expect_slurm(slurm_refusal("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n"),
               "a second switch a");
  expect_slurm(slurm_refusal("NodeName=n1\nNodeName=n[1-2]\n"), "a second node n1");
  expect_slurm(slurm_refusal("NodeName=n1 Gres=gpu:warp:8\n"), "\"warp\" is not known");
  expect_slurm(slurm_refusal("NodeName=n1 Gres=gpu:h100:-8\n"), "has -8 GPUs in a node");
  expect_slurm(slurm_refusal("NodeName=n1 Gres=nvme:1\n"), "has no node with GPUs");
  expect_slurm(slurm_refusal("# nic: fast\nNodeName=n1\n"), "\"fast\" is no bandwidth");
  expect_slurm(slurm_refusal("# oversubscription: 0\nNodeName=n1\n"), "from 1 to 1024");
}

TEST(SlurmTopology, WhatIsFarTooLargeIsNotMade) {
  expect_slurm(slurm_refusal("NodeName=n[1-1000000000] Gres=gpu:h100:8\n"), "one of too many");
  expect_slurm(slurm_refusal(std::string(kNic) + "NodeName=n[1-16384] Gres=gpu:h100:8\n"),
               "makes more than 16384 devices");
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += "SwitchName=s" + std::to_string(i) + " Nodes=n" + std::to_string(i) + "_[1-16384]\n";
  expect_slurm(slurm_refusal(many), "one of too many");
}

TEST(SlurmTopology, CutOrScrambledTextIsAClusterOrRefused) {
  std::mt19937 random(3);
  const std::string whole = std::string(kTree) + kNodes + kNic + "# oversubscription: 4\n";
  for (std::size_t i = 0; i < 3 * whole.size(); ++i) {
    std::string text = whole.substr(0, i < whole.size() ? i : whole.size());
    for (int change = i < whole.size() ? 0 : 3; change > 0; --change)
      text[random() % text.size()] = "[]-,=# \n\\09:"[random() % 12];
    try {
      EXPECT_GT(slurm_made(text).device_count(), 0u);
    } catch (const InputError& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  }
}

// What the leaves do stays when the cluster is changed.
TEST(Leaves, AreWrittenScaledAndRefilled) {
  const auto cluster = std::make_shared<const Cluster>(
      slurm_made(std::string(kTree) + kNodes + kNic + "# uplinks: 80 Gb/s\n"));
  const Cluster again = parse_cluster(cluster->json(), "again", GpuCatalogue());
  EXPECT_EQ(again.digest(), cluster->digest());
  ClusterChange change;
  change.network_bandwidth = 2;
  EXPECT_DOUBLE_EQ(gbps_between(*change_cluster(cluster, change).cluster, "n01:0", "n03:0"), 20);
  ClusterChange fewer;
  fewer.machines[machine_kinds(*cluster)[0].name] = 6;
  const auto changed = change_cluster(cluster, fewer).cluster;
  ASSERT_EQ(changed->machines().size(), 6u);
  std::size_t placed = 0;
  for (const LeafSpec& leaf : spec_of(*changed).network->leaves) placed += leaf.machines.size();
  EXPECT_EQ(placed, 6u);
}

TEST(Leaves, AreRefusedWhereTheyCannotBe) {
  const auto refused = [](const std::string& leaves) {
    return message_of([&] {
      parse_cluster(
          R"({"format": "stratoscope-cluster", "version": 1, "name": "c", "machines": [{"name": "a",
          "count": 2, "gpus": [{"type": "T4"}], "nic": {"bandwidth_GBps": 1}}],
          "network": {"leaves": )" +
              leaves + "}}",
          "c.json", GpuCatalogue::bundled());
    });
  };
  EXPECT_EQ(refused(R"([{"name": "l", "machines": ["a-0"], "bandwidth_GBps": 1}])"), "no error");
  expect_slurm(refused(R"([{"name": "a-0", "machines": ["a-0"], "bandwidth_GBps": 1}])"),
               "names something else, too");
  expect_slurm(refused(R"([{"name": "l", "machines": ["a-0", "a-0"], "bandwidth_GBps": 1}])"),
               "is in two leaves");
  expect_slurm(refused(R"([{"name": "l", "machines": ["b"], "bandwidth_GBps": 1}])"),
               "is not a machine");
  expect_slurm(refused("3"), "is not a list");
}

}  // namespace
}  // namespace strato
