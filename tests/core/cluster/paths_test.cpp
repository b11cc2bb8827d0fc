// Paths are made when they are asked for. What they must be is written down here once more, from
// the cluster's description and the names of links.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/vary/random_cluster.h"

namespace strato {
namespace {

using Json = nlohmann::ordered_json;

class Expected {
 public:
  explicit Expected(const Cluster& cluster) : cluster_(cluster) {
    for (const LinkId link : cluster.links().ids()) by_name_[cluster.links()[link].name] = link;
  }

  std::vector<std::string> path(DeviceId from, DeviceId to) const {
    if (from == to) return {};
    const std::string &a = cluster_.device(from).name, &b = cluster_.device(to).name;
    const std::string m = machine(from), n = machine(to);
    if (m == n) return {a + ">fabric", "fabric>" + b};
    std::vector<std::string> path = {exit(a), m + ">" + n, entry(b)};
    if (!by_name_.contains(m + ">" + n))
      path = {exit(a), first({a + ">net", m + ">net"}), "network", first({"net>" + b, "net>" + n}),
              entry(b)};
    std::erase_if(path, [&](const std::string& name) { return !by_name_.contains(name); });
    return path;
  }
  LinkId link(const std::string& name) const { return by_name_.at(name); }

 private:
  std::string machine(DeviceId device) const {
    return cluster_.machines()[cluster_.device(device).machine].name;
  }
  std::string first(const std::vector<std::string>& names) const {
    for (const std::string& name : names)
      if (by_name_.contains(name)) return name;
    return "";
  }
  // Out of the machine and into it: over the host link, where there is one, else the fabric.
  std::string exit(const std::string& device) const {
    return first({device + ">host", device + ">fabric"});
  }
  std::string entry(const std::string& device) const {
    return first({"host>" + device, "fabric>" + device});
  }

  const Cluster& cluster_;
  std::map<std::string, LinkId> by_name_;
};

void expect_paths(const Cluster& cluster) {
  const Expected expected(cluster);
  for (const DeviceId from : cluster.devices().ids())
    for (const DeviceId to : cluster.devices().ids()) {
      const Path path = cluster.path(from, to);
      std::vector<std::string> names;
      for (const LinkId link : path.links) names.push_back(cluster.links()[link].name);
      const std::vector<std::string> wanted = expected.path(from, to);
      ASSERT_EQ(names, wanted);
      double slowest = std::numeric_limits<double>::infinity();
      Nanos latency;
      for (const std::string& name : wanted) {
        const Link& link = cluster.links()[expected.link(name)];
        slowest = std::min(slowest, link.bandwidth);
        latency += link.latency;
      }
      EXPECT_EQ(path.bandwidth, slowest);
      EXPECT_EQ(path.latency, latency);
      EXPECT_EQ(path.from, from);
      EXPECT_EQ(path.to, to);
    }
}

// Machines with and without host links, with a network card for all devices or one for each, links
// between some pairs, and a switch that has a bandwidth or none.
Cluster drawn(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const auto link = [&](std::uint64_t most) {
    return Json{{"bandwidth_GBps", 1 + below(most)}, {"latency_us", below(5)}};
  };
  Json cluster = {{"format", "stratoscope-cluster"}, {"version", 1}, {"name", "drawn"}};
  const std::size_t kinds = 1 + below(4);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kinds; ++i) {
    const auto name = fmt::format("m{}", i);
    const auto gpus = static_cast<int>(1 + below(4));
    const auto count = static_cast<int>(1 + below(3));
    Json machine = {{"name", name},
                    {"count", count},
                    {"gpus", Json::array({{{"type", "V100-SXM2-32GB"}, {"count", gpus}}})},
                    {"nic", link(40)}};
    if (gpus > 1 || below(2) == 0) machine["fabric"] = link(100);
    if (below(2) == 0) machine["host_link"] = link(20);
    cluster["machines"].push_back(machine);
    for (int k = 0; k < count; ++k)
      names.push_back(count == 1 ? name : fmt::format("{}-{}", name, k));
  }
  cluster["network"] = {{"latency_us", below(4)}};
  if (below(2) == 0) cluster["network"]["bandwidth_GBps"] = 1 + below(9);
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (below(4) == 0) {
        Json pair = link(30);
        pair["between"] = below(2) == 0 ? Json{names[a], names[b]} : Json{names[b], names[a]};
        cluster["links"].push_back(pair);
      }
  return parse_cluster(cluster.dump(), "drawn", GpuCatalogue::bundled());
}

TEST(Paths, FollowFromTheDescription) {
  std::size_t rails = 0, direct = 0;
  for (std::uint64_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Cluster cluster = drawn(seed);
    expect_paths(cluster);
    for (const Link& link : cluster.links())
      rails += link.device.valid() && link.name.starts_with("net>m") &&
               link.name.find(':') != std::string::npos;
    direct += Json::parse(cluster.json()).contains("links");
  }
  EXPECT_GT(rails, 0u);
  EXPECT_GT(direct, 50u);
}

TEST(Paths, FollowFromTheDescriptionOfRandomClusters) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) expect_paths(random_cluster(seed));
}

Cluster machines_of_eight(int count) {
  const std::string gpus = R"({"type": "H100-SXM5-80GB", "count": 8})";
  return parse_cluster(
      fmt::format(R"({{"format": "stratoscope-cluster", "version": 1, "name": "large",
        "machines": [{{"name": "h100", "count": {}, "gpus": [{}],
          "fabric": {{"bandwidth_GBps": 450, "latency_us": 2}},
          "host_link": {{"bandwidth_GBps": 50, "latency_us": 4}},
          "nic": {{"bandwidth_GBps": 400, "latency_us": 3}}}}],
        "network": {{"latency_us": 1}}}})",
                  count, gpus),
      "large.json", GpuCatalogue::bundled());
}

// A table of the paths between any two of them would have 268 million rows.
TEST(Paths, OfThousandsOfDevices) {
  const Cluster cluster = machines_of_eight(2048);
  ASSERT_EQ(cluster.device_count(), 16'384u);
  const Path path = cluster.path(DeviceId(3), DeviceId(16'380));
  ASSERT_EQ(path.links.size(), 4u);
  EXPECT_EQ(cluster.links()[path.links[1]].name, "h100-0:3>net");
  EXPECT_EQ(cluster.links()[path.links[3]].name, "host>h100-2047:4");
  EXPECT_EQ(path.bandwidth, 50e9);
  EXPECT_EQ(path.latency, Nanos(15'000));
  EXPECT_EQ(cluster.links().size(), 6 * cluster.device_count());
  EXPECT_THROW(machines_of_eight(2049), InputError);
}

}  // namespace
}  // namespace strato
