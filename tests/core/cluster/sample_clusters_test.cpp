// Every sample cluster loads, and says what its file says.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"
#include "core/io/file.h"
#include "tests/paths.h"

namespace strato {
namespace {

namespace fs = std::filesystem;
const fs::path kSource = kSourceFolder;

Cluster sample(const std::string& name) {
  return read_cluster(kSource / "sample_graphs/clusters" / (name + ".json"),
                      GpuCatalogue::bundled());
}

std::vector<fs::path> sample_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kSource / "sample_graphs/clusters")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> names_of(const Cluster& cluster, const Path& path) {
  std::vector<std::string> names;
  for (const LinkId id : path.links) names.push_back(cluster.links()[id].name);
  return names;
}

class SampleCluster : public testing::TestWithParam<fs::path> {};

TEST_P(SampleCluster, HasConsistentIds) {
  const Cluster cluster = read_cluster(GetParam(), GpuCatalogue::bundled());
  ASSERT_GT(cluster.device_count(), 0u);
  std::set<std::string> names;
  std::size_t grouped = 0;
  for (std::size_t i = 0; i < cluster.device_count(); ++i) {
    const Device& device = cluster.device(DeviceId(i));
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    EXPECT_EQ(cluster.find_device(device.name), DeviceId(i));
    const DeviceGroup& group = cluster.groups()[device.group];
    EXPECT_EQ(group.type, device.type);
    EXPECT_EQ(group.machine, device.machine);
    EXPECT_TRUE(std::binary_search(group.devices.begin(), group.devices.end(), DeviceId(i)));
    EXPECT_GT(cluster.gpu(DeviceId(i)).memory.value, 0);
  }
  for (const DeviceGroup& group : cluster.groups()) grouped += group.devices.size();
  EXPECT_EQ(grouped, cluster.device_count());
}

TEST_P(SampleCluster, HasUniqueLinkNames) {
  const Cluster cluster = read_cluster(GetParam(), GpuCatalogue::bundled());
  std::set<std::string> names;
  for (const Link& link : cluster.links()) EXPECT_TRUE(names.insert(link.name).second) << link.name;
}

TEST_P(SampleCluster, HasPathsThatAreSymmetricInStructure) {
  const Cluster cluster = read_cluster(GetParam(), GpuCatalogue::bundled());
  for (std::size_t a = 0; a < cluster.device_count(); ++a) {
    EXPECT_TRUE(cluster.path(DeviceId(a), DeviceId(a)).links.empty());
    for (std::size_t b = 0; b < a; ++b) {
      const Path& there = cluster.path(DeviceId(a), DeviceId(b));
      const Path& back = cluster.path(DeviceId(b), DeviceId(a));
      ASSERT_FALSE(there.links.empty());
      EXPECT_EQ(there.links.size(), back.links.size());
      EXPECT_EQ(there.bandwidth, back.bandwidth);
      EXPECT_EQ(there.latency, back.latency);
      for (const LinkId link : there.links) {  // the two directions are different resources
        EXPECT_EQ(std::count(back.links.begin(), back.links.end(), link), 0);
      }
    }
  }
}

TEST_P(SampleCluster, PathBandwidthAndLatencyFollowFromLinks) {
  const Cluster cluster = read_cluster(GetParam(), GpuCatalogue::bundled());
  for (std::size_t a = 0; a < cluster.device_count(); ++a) {
    for (std::size_t b = 0; b < cluster.device_count(); ++b) {
      if (a == b) continue;
      const Path& path = cluster.path(DeviceId(a), DeviceId(b));
      double slowest = 1e300;
      Nanos latency;
      for (const LinkId link : path.links) {
        slowest = std::min(slowest, cluster.links()[link].bandwidth);
        latency += cluster.links()[link].latency;
      }
      EXPECT_EQ(path.bandwidth, slowest);
      EXPECT_EQ(path.latency, latency);
    }
  }
}

TEST_P(SampleCluster, NormalisedTextReadsBackWithoutACatalogue) {
  const Cluster cluster = read_cluster(GetParam(), GpuCatalogue::bundled());
  const Cluster again = parse_cluster(cluster.json(), "embedded", GpuCatalogue());
  EXPECT_EQ(again.digest(), cluster.digest());
  EXPECT_EQ(again.json(), cluster.json());
}

INSTANTIATE_TEST_SUITE_P(All, SampleCluster, testing::ValuesIn(sample_files()),
                         [](const auto& info) {
                           std::string name = info.param.stem().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(SampleClusters, AreAllThere) { EXPECT_EQ(sample_files().size(), 29u); }

TEST(SampleClusters, ExampleInTheReadmeLoads) {
  const std::string text = read_file(kSource / "sample_graphs/clusters/README.md");
  const std::size_t begin = text.find("```json") + 7;
  const Cluster cluster = parse_cluster(text.substr(begin, text.find("```", begin) - begin),
                                        "README", GpuCatalogue::bundled());
  EXPECT_EQ(cluster.device_count(), 8u);
  EXPECT_EQ(cluster.bandwidth(cluster.find_group("small-0"), cluster.find_group("small-1")), 5e9);
}

TEST(TagTestbed, HasItsDevicesAndGroups) {
  const Cluster cluster = sample("tag-testbed");
  EXPECT_EQ(cluster.device_count(), 16u);
  EXPECT_EQ(cluster.machines().size(), 7u);
  std::vector<std::string> groups;
  for (const DeviceGroup& group : cluster.groups()) groups.push_back(group.name);
  EXPECT_EQ(groups, (std::vector<std::string>{"v100", "1080ti-0", "1080ti-1", "1080ti-2",
                                              "1080ti-3", "p100-0", "p100-1"}));
  EXPECT_TRUE(cluster.find_device("v100:3").valid());
  EXPECT_FALSE(cluster.find_device("v100:4").valid());
  EXPECT_EQ(cluster.gpu(cluster.find_device("1080ti-3:1")).name, "GTX-1080-Ti");
  EXPECT_EQ(cluster.gpu(DeviceId(0)).memory.value, std::int64_t{32} << 30);
}

TEST(TagTestbed, PathInsideAMachineUsesTwoPorts) {
  const Cluster cluster = sample("tag-testbed");
  const Path& path = cluster.path(cluster.find_device("v100:0"), cluster.find_device("v100:2"));
  EXPECT_EQ(names_of(cluster, path), (std::vector<std::string>{"v100:0>fabric", "fabric>v100:2"}));
  EXPECT_EQ(path.bandwidth, 150e9);
  EXPECT_EQ(path.latency, Nanos(4000));
}

TEST(TagTestbed, PathBetweenMachinesGoesOverHostLinkAndNics) {
  const Cluster cluster = sample("tag-testbed");
  const Path& path = cluster.path(cluster.find_device("v100:1"), cluster.find_device("p100-1:0"));
  EXPECT_EQ(names_of(cluster, path),
            (std::vector<std::string>{"v100:1>host", "v100>net", "net>p100-1", "fabric>p100-1:0"}));
  EXPECT_EQ(path.bandwidth, 12e9);
  EXPECT_EQ(path.latency, Nanos(4000 + 6000 + 1000 + 6000 + 4000));
}

TEST(TagTestbed, BandwidthsOfGroups) {
  const Cluster cluster = sample("tag-testbed");
  const DeviceGroupId v100 = cluster.find_group("v100"), ti = cluster.find_group("1080ti-0");
  EXPECT_EQ(cluster.bandwidth(v100, v100), 150e9);
  EXPECT_EQ(cluster.bandwidth(ti, ti), 12e9);
  EXPECT_EQ(cluster.bandwidth(v100, ti), 12e9);
}

TEST(TagCloud, NetworkIsTheBottleneck) {
  const Cluster cluster = sample("tag-cloud");
  EXPECT_EQ(cluster.device_count(), 32u);
  EXPECT_EQ(cluster.bandwidth(cluster.find_group("v100-0"), cluster.find_group("t4-3")), 1.25e9);
}

TEST(AutodistA1, GroupOfOneHasTheBandwidthOfItsMemory) {
  const Cluster cluster = sample("autodist-a1");
  const DeviceGroupId group = cluster.find_group("titanx-0");
  EXPECT_EQ(cluster.bandwidth(group, group), cluster.gpu(DeviceId(0)).memory_bandwidth);
}

// A machine's network card that takes all of its GPUs' ways to it at once is one of each of them.
TEST(SampleClusters, GpusWithNetworkCardsOfTheirOwnDoNotMeet) {
  const Cluster rails = sample("h100-2x8"), shared = sample("fastt-2x8xv100");
  const auto meet = [](const Cluster& cluster) {
    const Path &one = cluster.path(DeviceId(0), DeviceId(8)),
               &other = cluster.path(DeviceId(1), DeviceId(9));
    return std::ranges::any_of(one.links, [&](LinkId link) {
      return std::ranges::find(other.links, link) != other.links.end();
    });
  };
  EXPECT_FALSE(meet(rails));
  EXPECT_TRUE(meet(shared));
  const Path& path = rails.path(DeviceId(0), DeviceId(8));
  EXPECT_EQ(names_of(rails, path), (std::vector<std::string>{"h100-0:0>host", "h100-0:0>net",
                                                             "net>h100-1:0", "host>h100-1:0"}));
  EXPECT_EQ(path.bandwidth, 50e9);
  EXPECT_EQ(path.latency, Nanos(4000 + 3000 + 1000 + 3000 + 4000));
  EXPECT_EQ(rails.ports(DeviceId(3)).size(), 6u);
  EXPECT_EQ(shared.ports(DeviceId(3)).size(), 4u);
}

}  // namespace
}  // namespace strato
