// What a machine tells of itself: the driver is a library of the test's own, /proc and /sys are
// folders.
#include "app/worker/report.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>
#include <numeric>

#include "app/worker/report_nvml.h"
#include "app/worker/report_system.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/read/discovered_cluster.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "tests/core/store/temporary_folder.h"

namespace strato::worker {
namespace {

NvmlAnswer ask(const char* machine) {
  ::setenv("STRATO_FAKE_NVML", machine, 1);
  return ask_nvml(STRATO_FAKE_NVML_LIBRARY);
}

// Through the file that is written: what is described in the end.
Cluster cluster_of(const char* machine) {
  MachineReport report;
  report.host = "dgx";
  report.memory = Bytes(std::int64_t{1} << 38);
  const NvmlAnswer answer = ask(machine);
  report.driver = answer.driver;
  report.gpus = answer.gpus;
  const GpuCatalogue& catalogue = GpuCatalogue::bundled();
  return parse_cluster(
      discovered_cluster({parse_machine_report(to_json(report), "r")}, {}, catalogue), "test",
      catalogue);
}

double port_gbps(const Cluster& cluster) {
  return cluster.path(DeviceId(0), DeviceId(1)).bandwidth / 1e9;
}

TEST(Nvml, TheHybridCubeMeshOfEightV100) {
  const NvmlAnswer answer = ask("v100");
  EXPECT_EQ(answer.problem, "");
  EXPECT_EQ(answer.driver, "535.54.03");
  ASSERT_EQ(answer.gpus.size(), 8u);
  const GpuReport& first = answer.gpus[0];
  EXPECT_EQ(first.name, "Tesla V100-SXM2-32GB");
  EXPECT_EQ(first.nvlinks, (std::vector<int>{0, 1, 1, 2, 2, 0, 0, 0}));
  EXPECT_EQ(first.switch_links, 0);
  EXPECT_NEAR(first.nvlink_gbps, 25.781, 1e-9);
  EXPECT_EQ(first.pcie_generation, 3);
  for (std::size_t a = 0; a < 8; ++a) {
    const auto& links = answer.gpus[a].nvlinks;
    EXPECT_EQ(std::accumulate(links.begin(), links.end(), 0), 6);
    for (std::size_t b = 0; b < 8; ++b) EXPECT_EQ(links[b], answer.gpus[b].nvlinks[a]);
  }
  const Cluster cluster = cluster_of("v100");
  EXPECT_EQ(cluster.device_count(), 8u);
  EXPECT_EQ(cluster.gpu(DeviceId(0)).name, "V100-SXM2-32GB");
  EXPECT_GT(cluster.gpu(DeviceId(0)).peak_flops[static_cast<std::size_t>(Precision::Fp16)], 1e14);
  EXPECT_NEAR(port_gbps(cluster), 6 * 25.781, 0.01);
  EXPECT_NE(cluster.json().find("a pair is joined by 0 to 2 of them"), std::string::npos);
}

TEST(Nvml, SwitchesAndMig) {
  const NvmlAnswer off = ask("a100"), on = ask("mig");
  ASSERT_EQ(off.gpus.size(), 2u);
  EXPECT_EQ(off.gpus[0].switch_links, 12);
  EXPECT_FALSE(off.gpus[0].mig);
  EXPECT_TRUE(on.gpus[0].mig);
  const Cluster cluster = cluster_of("a100");
  EXPECT_EQ(cluster.gpu(DeviceId(0)).name, "A100-SXM4-40GB");
  EXPECT_NEAR(port_gbps(cluster), 12 * 25.781, 0.01);
  EXPECT_EQ(cluster.json().find("MIG"), std::string::npos);
  EXPECT_NE(cluster_of("mig").json().find("MIG is on"), std::string::npos);
}

TEST(Nvml, UnknownGpusAreDescribedByWhatTheDriverTells) {
  const Cluster cluster = cluster_of("unknown");
  const GpuType& type = cluster.gpu(DeviceId(1));
  EXPECT_EQ(type.name, "NVIDIA Z9000 \"Sample\"");
  EXPECT_EQ(type.memory.value, (7LL << 30) - 200'000'000);
  EXPECT_DOUBLE_EQ(type.peak_flops[static_cast<std::size_t>(Precision::Fp32)], 3e12);
  EXPECT_DOUBLE_EQ(type.memory_bandwidth, 320e9);
  EXPECT_NE(type.sources.find("computed: 1000 cores"), std::string::npos);
  EXPECT_NEAR(port_gbps(cluster), 0.8 * 16 * 1.969, 0.01);
}

TEST(Nvml, NvlinksThatJoinSomeOnlyCountAsPcie) {
  const NvmlAnswer answer = ask("island");
  EXPECT_EQ(answer.gpus.at(2).nvlinks, (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(answer.gpus.at(2).nvlink_gbps, 0);
  const Cluster cluster = cluster_of("island");
  EXPECT_NEAR(port_gbps(cluster), 0.8 * 16 * 1.969, 0.01);
  EXPECT_NE(cluster.json().find("join only some"), std::string::npos);
}

TEST(Nvml, ADriverThatTellsTheNameOnlyGivesAssumedFigures) {
  const Cluster cluster = cluster_of("silent");
  EXPECT_EQ(cluster.gpu(DeviceId(0)).name, "Graphics Device");
  EXPECT_NE(cluster.gpu(DeviceId(0)).sources.find("peak_tflops: assumed"), std::string::npos);
}

TEST(Nvml, WhatDoesNotWorkIsTold) {
  EXPECT_EQ(ask("broken").problem, "the driver cannot be used: Driver Not Loaded");
  EXPECT_EQ(ask("none").problem, "the driver finds none");
  EXPECT_NE(ask_nvml("libno-such.so.1").problem.find("is not installed"), std::string::npos);
  EXPECT_NE(ask_nvml("libc.so.6").problem.find("is not NVIDIA's"), std::string::npos);
}

class System : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const auto path = folder_ / file;
    std::filesystem::create_directories(path.parent_path());
    write_file(path, text);
  }
  SystemPlaces places() const { return {folder_ / "proc", folder_ / "sys", "libno-such.so.1"}; }
  TemporaryFolder folder_;
};

TEST_F(System, ReadsProcessorMemoryAndInterfaces) {
  write(
      "proc/cpuinfo",
      "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\ncpu MHz\t\t: 2000.0\nflags\t\t: fpu avx2\n"
      "siblings\t: 1\ncpu cores\t: 1\n\nprocessor\t: 1\nmodel name\t: Other\n");
  write("proc/meminfo", "MemTotal:        1000 kB\nMemFree: 1 kB\n");
  write("sys/fs/cgroup/memory.max", "512000\n");
  for (const char* name : {"eth0", "eth1", "eth2"})
    write(std::string("sys/class/net/") + name + "/device/vendor", "0x1\n");
  write("sys/class/net/bridge/speed", "77777\n");
  write("sys/class/net/eth0/speed", "10000\n");
  write("sys/class/net/eth0/operstate", "up\n");
  write("sys/class/net/eth1/speed", "-1\n");
  write("sys/class/net/eth2/speed", "40000\n");
  write("sys/class/net/eth2/operstate", "down\n");
  write("sys/class/net/lo/speed", "99999\n");
  write("sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
  write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  const MachineReport report = report_machine(places());
  EXPECT_FALSE(report.host.empty());
  EXPECT_EQ(report.cpu, "Some CPU @ 2.0GHz");
  EXPECT_GE(report.cores, 1);
  EXPECT_EQ(report.cpu_mhz, 2000);
  EXPECT_EQ(report.fp32_lanes, 16);
  EXPECT_EQ(report.memory.value, 512'000);
  ASSERT_EQ(report.interfaces.size(), 2u);
  EXPECT_EQ(report.interfaces[0].name, "eth0");
  EXPECT_EQ(report.interfaces[0].mbps, 10'000);
  EXPECT_EQ(report.interfaces[1].name, "mlx5_0:1");
  EXPECT_EQ(report.interfaces[1].mbps, 100'000);
  EXPECT_TRUE(report.interfaces[1].infiniband);
  EXPECT_FALSE(report.gpu_problem.empty());
}

TEST_F(System, AMachineThatTellsNothingIsDescribedAllTheSame) {
  const MachineReport report = report_machine(places());
  EXPECT_EQ(report.memory.value, 0);
  EXPECT_TRUE(report.interfaces.empty());
  const GpuCatalogue& catalogue = GpuCatalogue::bundled();
  const Cluster cluster =
      parse_cluster(discovered_cluster({report}, {}, catalogue), "test", catalogue);
  EXPECT_EQ(cluster.device_count(), 1u);
}

// Files that the group has read lie in its memory, too, until something else needs the room.
TEST_F(System, FilesInMemoryLeaveItAtHand) {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(memory_at_hand(places()).value, kAll);
  write("proc/meminfo", "MemTotal:        9000 kB\nMemAvailable:    8000 kB\n");
  EXPECT_EQ(memory_at_hand(places()).value, 8'192'000);
  write("sys/fs/cgroup/memory.max", "1000000\n");
  write("sys/fs/cgroup/memory.current", "900000\n");
  EXPECT_EQ(memory_at_hand(places()).value, 100'000);
  write("sys/fs/cgroup/memory.stat", "anon 100000\ninactive_anon 7\ninactive_file 700000\n");
  EXPECT_EQ(memory_at_hand(places()).value, 800'000);
  write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(memory_at_hand(places()).value, 8'192'000);
}

TEST_F(System, TheFirstVersionOfGroupsIsRead) {
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "6000\n");
  EXPECT_EQ(memory_at_hand(places()).value, 0);
  write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 3000\n");
  EXPECT_EQ(memory_at_hand(places()).value, 2000);
  EXPECT_EQ(report_machine(places()).memory.value, 5000);
}

TEST(ThisMachine, TellsItsCoresAndMemory) {
  const MachineReport report = parse_machine_report(to_json(report_machine()), "here");
  EXPECT_GE(report.cores, 1);
  EXPECT_GT(report.memory.value, 1 << 20);
}

}  // namespace
}  // namespace strato::worker
