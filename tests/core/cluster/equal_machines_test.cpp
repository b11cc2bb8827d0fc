// Clusters of equal machines by a name.
#include "core/cluster/read/equal_machines.h"

#include <gtest/gtest.h>

#include "core/cluster/read/cluster_reader.h"
#include "tests/message_of.h"
#include "tests/paths.h"

namespace strato {
namespace {

const GpuCatalogue& known_gpus() { return GpuCatalogue::bundled(); }

std::string refusal_of_name(const std::string& name) {
  return message_of([&] { read_cluster(name, known_gpus()); });
}

// What the data sheets of whole machines say: the samples are the same clusters.
TEST(EqualMachines, AreThoseOfTheSamples) {
  for (const auto& [name, sample] : {std::pair{"h100-128x8", "h100-128x8"},
                                     {"b200-1x8", "b200-1x8"},
                                     {"h100-sxm-2x8", "h100-2x8"}}) {
    const std::string file =
        std::string(kSourceFolder) + "/sample_graphs/clusters/" + sample + ".json";
    EXPECT_EQ(read_cluster(name, known_gpus()).digest(), read_cluster(file, known_gpus()).digest())
        << name;
  }
}

TEST(EqualMachines, HaveTheNetworkThatIsAskedFor) {
  const Cluster slow = read_cluster("h100-8x8-100GbE", known_gpus());
  const Cluster usual = read_cluster("H100-8X8", known_gpus());
  EXPECT_EQ(slow.device_count(), 64u);
  EXPECT_EQ(slow.name(), "8 x 8 H100, 100GbE");
  EXPECT_EQ(usual.name(), "8 x 8 H100");
  const auto between = [](const Cluster& cluster) {
    return cluster.path(DeviceId(0), DeviceId(8)).bandwidth;
  };
  EXPECT_DOUBLE_EQ(between(usual), 50e9);
  EXPECT_DOUBLE_EQ(between(slow), 12.5e9);
}

TEST(EqualMachines, EveryGpuAndNetworkMakesAClusterWhoseNameMakesItAgain) {
  for (const GpuType& gpu : known_gpus().gpus()) {
    for (std::size_t network = 0; network < network_kinds().size(); ++network) {
      for (const std::int64_t count : {1, 3}) {
        const EqualMachines machines{gpu.name, count, 4, network};
        const std::string name = name_of(machines, known_gpus());
        const auto again = equal_machines_from(name);
        ASSERT_TRUE(again) << name;
        ASSERT_EQ(known_gpus().find(again->gpu), &gpu) << name;
        const Cluster cluster = read_cluster(name, known_gpus());
        EXPECT_EQ(
            cluster.digest(),
            parse_cluster(equal_machines_cluster(machines, name, known_gpus()), name, known_gpus())
                .digest())
            << name;
        EXPECT_EQ(cluster.device_count(), static_cast<std::size_t>(count * 4)) << name;
      }
    }
  }
}

TEST(EqualMachines, SayWhatIsWrong) {
  EXPECT_EQ(refusal_of_name("h101-8x8")
                .find("h101-8x8: is no file and no sample, and \"h101\" is no GPU"),
            0u)
      << refusal_of_name("h101-8x8");
  EXPECT_NE(refusal_of_name("h101-8x8").find("stratoscope-cli list gpus"), std::string::npos);
  EXPECT_NE(refusal_of_name("h100-0x8").find("at least one machine"), std::string::npos);
  EXPECT_NE(refusal_of_name("h100-9999x8").find("16384 GPUs at most"), std::string::npos);
  for (const char* other : {"h100", "h100-8", "h100-8x", "-8x8", "h100-8x8.json", "h100-axb"})
    EXPECT_FALSE(equal_machines_from(other)) << other;
}

}  // namespace
}  // namespace strato
