#include "core/cluster/vary/random_cluster.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"

namespace strato {
namespace {

constexpr double kGbps = 1e9 / 8;

TEST(RandomCluster, StaysInThePapersRangesAndReachesTheirEnds) {
  const RandomClusterOptions options;
  std::set<std::size_t> machines, gpus;
  std::set<std::string> types;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Cluster cluster = random_cluster(seed, options, GpuCatalogue::bundled());
    machines.insert(cluster.machines().size());
    EXPECT_EQ(cluster.groups().size(), cluster.machines().size()) << "one type a machine";
    for (const DeviceGroup& group : cluster.groups()) {
      gpus.insert(group.devices.size());
      types.insert(cluster.gpu_types()[group.type].name);
    }
    for (std::size_t a = 0; a < cluster.device_count(); ++a) {
      for (std::size_t b = 0; b < cluster.device_count(); ++b) {
        if (a == b) continue;
        const bool inside =
            cluster.device(DeviceId(a)).machine == cluster.device(DeviceId(b)).machine;
        const double bandwidth = cluster.path(DeviceId(a), DeviceId(b)).bandwidth / kGbps;
        EXPECT_GE(bandwidth, (inside ? 64 : 20) - 1e-9);
        EXPECT_LE(bandwidth, (inside ? 160 : 50) + 1e-9);
      }
    }
  }
  EXPECT_EQ(machines, (std::set<std::size_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(gpus, (std::set<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(types, (std::set<std::string>{"V100-SXM2-32GB", "GTX-1080-Ti", "P100-PCIe-16GB"}));
}

TEST(RandomCluster, SeedDecidesAndItsTextReadsBack) {
  std::set<Digest> digests;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Cluster cluster = random_cluster(seed, {}, GpuCatalogue::bundled());
    EXPECT_EQ(cluster.digest(), random_cluster(seed, {}, GpuCatalogue::bundled()).digest());
    EXPECT_EQ(cluster.name(), "random " + std::to_string(seed));
    const Cluster again = parse_cluster(cluster.json(), "saved", GpuCatalogue());
    EXPECT_EQ(again.digest(), cluster.digest()) << "no catalogue is needed to read it back";
    digests.insert(cluster.digest());
  }
  EXPECT_EQ(digests.size(), 50u);
}

TEST(RandomCluster, RefusesWhatCannotBeDrawn) {
  RandomClusterOptions options;
  options.gpus = {"no such GPU"};
  EXPECT_THROW(random_cluster(1, options, GpuCatalogue::bundled()), InputError);
  options.gpus.clear();
  EXPECT_THROW(random_cluster(1, options, GpuCatalogue::bundled()), InputError);
  options = {};
  options.most_machines = 0;
  EXPECT_THROW(random_cluster(1, options, GpuCatalogue::bundled()), InputError);
  options = {};
  options.least_gpus = 9;
  EXPECT_THROW(random_cluster(1, options, GpuCatalogue::bundled()), InputError);
}

}  // namespace
}  // namespace strato
