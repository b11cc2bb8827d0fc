// From reports to a cluster file: names, types, links, and what was measured later.
#include "core/cluster/read/discovered_cluster.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/json.h"

namespace strato {
namespace {

const GpuCatalogue& catalogue() { return GpuCatalogue::bundled(); }

MachineReport cpu_machine(const std::string& host) {
  MachineReport report;
  report.host = host;
  report.cpu = "Some CPU";
  report.cores = 4;
  report.cpu_mhz = 2000;
  report.fp32_lanes = 16;
  report.memory = Bytes(std::int64_t{8} << 30);
  report.gpu_problem = "no driver";
  report.interfaces = {{"eth0", false, 10'000}, {"eth1", false, 25'000}};
  return report;
}

GpuReport gpu(const std::string& name, std::int64_t gib) {
  GpuReport report;
  report.name = name;
  report.memory = Bytes(gib << 30);
  report.cores = 100;
  report.clock_mhz = 1000;
  report.memory_clock_mhz = 1000;
  report.memory_bus_bits = 128;
  return report;
}

Cluster read(const std::string& text) { return parse_cluster(text, "test", catalogue()); }
DiscoveryText in_parts(int cpu_devices) {
  DiscoveryText text;
  text.cpu_devices = cpu_devices;
  return text;
}
DiscoveryText over(const std::string& interface) {
  DiscoveryText text;
  text.interface = interface;
  return text;
}

Cluster cluster_of(const std::vector<MachineReport>& reports, const DiscoveryText& text = {}) {
  return read(discovered_cluster(reports, text, catalogue()));
}

TEST(DiscoveredCluster, MachinesWithoutGpusAreDevices) {
  const Cluster cluster = cluster_of({cpu_machine("n1.example.org"), cpu_machine("n2")});
  EXPECT_EQ(cluster.device_count(), 2u);
  EXPECT_TRUE(cluster.find_device("n1:0").valid());
  const GpuType& type = cluster.gpu(DeviceId(0));
  EXPECT_EQ(type.name, "4 x Some CPU");
  EXPECT_EQ(type.memory.value, std::int64_t{8} << 30);
  EXPECT_DOUBLE_EQ(type.peak_flops[static_cast<std::size_t>(Precision::Fp32)], 4 * 2e9 * 32);
  EXPECT_EQ(cluster.gpu_types().size(), 1u);
  EXPECT_NEAR(cluster.path(DeviceId(0), DeviceId(1)).bandwidth, 25e9 / 8, 1);
  const Cluster split = cluster_of({cpu_machine("n1")}, in_parts(4));
  EXPECT_EQ(split.device_count(), 4u);
  EXPECT_EQ(split.gpu(DeviceId(3)).memory.value, std::int64_t{2} << 30);
}

TEST(DiscoveredCluster, WrittenAndReadAgainItIsTheSame) {
  MachineReport mixed = cpu_machine("mixed");
  mixed.gpus = {gpu("Strange \xff GPU", 3), gpu("NVIDIA H100 80GB HBM3", 80),
                gpu("Strange \xff GPU", 3)};
  const std::string text = discovered_cluster({mixed, cpu_machine("net")}, {}, catalogue());
  const Cluster cluster = read(text),
                again = parse_cluster(cluster.json(), "again", GpuCatalogue());
  EXPECT_EQ(cluster.digest(), again.digest());
  EXPECT_EQ(cluster.json(), again.json());
  EXPECT_NE(cluster.json().find("line rate reported by eth1"), std::string::npos);
  EXPECT_EQ(cluster.groups().size(), 3u);
  EXPECT_EQ(cluster.machines()[MachineId(1)].name, "net-1");
}

TEST(DiscoveredCluster, NamesAreThoseThatAFileMayHave) {
  const std::string longest(300, 'x');
  const Cluster cluster =
      cluster_of({cpu_machine("a:b/c>d,e f"), cpu_machine(""), cpu_machine(""),
                  cpu_machine(longest), cpu_machine("fabric"), cpu_machine("n\xc3\xb6")});
  EXPECT_EQ(cluster.machines()[MachineId(0)].name, "a-b-c-d-e-f");
  EXPECT_EQ(cluster.machines()[MachineId(1)].name, "machine");
  EXPECT_EQ(cluster.machines()[MachineId(2)].name, "machine-2");
  EXPECT_EQ(cluster.machines().size(), 6u);
}

TEST(DiscoveredCluster, AKnownNameWithAnotherMemoryIsATypeOfItsOwn) {
  MachineReport odd = cpu_machine("odd"), even = cpu_machine("even");
  odd.gpus = {gpu("Tesla V100-SXM2-32GB", 16)};
  even.gpus = {gpu("Tesla V100-SXM2-32GB", 32)};
  const Cluster cluster = cluster_of({odd, even});
  ASSERT_EQ(cluster.gpu_types().size(), 2u);
  EXPECT_EQ(cluster.gpu(DeviceId(0)).memory.value, std::int64_t{16} << 30);
  EXPECT_EQ(cluster.gpu(DeviceId(1)).name, "V100-SXM2-32GB");
}

TEST(DiscoveredCluster, InterfaceIsTheOneAskedForOrAssumed) {
  const auto nic = [](const DiscoveryText& text) {
    const Cluster cluster = cluster_of({cpu_machine("a"), cpu_machine("b")}, text);
    return cluster.path(DeviceId(0), DeviceId(1)).bandwidth;
  };
  EXPECT_NEAR(nic(over("eth0")), 1.25e9, 1);
  EXPECT_NEAR(nic(over("ib7")), 1.25e9, 1);
}

TEST(DiscoveredCluster, MeasuredLinksReplaceWhatWasReported) {
  MachineReport gpus = cpu_machine("g");
  gpus.gpus = {gpu("Tesla V100-SXM2-32GB", 32), gpu("Tesla V100-SXM2-32GB", 32)};
  const std::string before = discovered_cluster({gpus, cpu_machine("c")}, {}, catalogue());
  const std::string after = with_measured_links(before, "test",
                                                {{"g:0", "g:1", 8e9, Nanos(10'000)},
                                                 {"g:1", "g:0", 10e9, Nanos(14'000)},
                                                 {"g:0", "c:0", 2e9, Nanos(50'000)},
                                                 {"c:0", "g:1", 3e9, Nanos(50'000)},
                                                 {"nobody", "c:0", 1, Nanos(1)},
                                                 {"c:0", "c:0", 1, Nanos(1)}},
                                                catalogue());
  const Cluster cluster = read(after);
  const Path& inside = cluster.path(DeviceId(0), DeviceId(1));
  EXPECT_NEAR(inside.bandwidth, 9e9, 1);
  EXPECT_EQ(inside.latency, Nanos(12'000));
  const Path& between = cluster.path(DeviceId(0), DeviceId(2));
  EXPECT_NEAR(between.bandwidth, 2.5e9, 1);
  EXPECT_EQ(between.latency, Nanos(50'000));
  EXPECT_NE(cluster.json().find("measured, the mean of 2 transfers"), std::string::npos);
  EXPECT_EQ(read(with_measured_links(after, "test", {}, catalogue())).digest(), cluster.digest());
}

TEST(DiscoveredCluster, RefusesNoReportAndTooManyDevices) {
  EXPECT_THROW(cluster_of({}), InputError);
  EXPECT_THROW(cluster_of({cpu_machine("a")}, in_parts(20000)), InputError);
}

TEST(MachineReport, ComesBackAndIsChecked) {
  MachineReport report = cpu_machine("a \"quoted\" name");
  report.gpus = {gpu("G", 1)};
  report.gpus[0].nvlinks = {0, 2};
  report.gpus[0].mig = true;
  EXPECT_EQ(to_json(parse_machine_report(to_json(report), "r")), to_json(report));
  for (const char* wrong : {"", "[]", "{}", R"({"format":"stratoscope-machine","version":2})",
                            R"({"format":"stratoscope-machine","version":1,"host":7})"})
    EXPECT_THROW(parse_machine_report(wrong, "r"), InputError) << wrong;
  Json negative = Json::parse(to_json(report));
  negative["memory_bytes"] = -1;
  EXPECT_THROW(parse_machine_report(negative.dump(), "r"), InputError);
}

}  // namespace
}  // namespace strato
