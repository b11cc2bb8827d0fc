// The analytic cost model against closed forms, and what must always hold of it.
#include "core/cost/value/cost_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "tests/core/cost/toy.h"

namespace strato {
namespace {

GpuTypeId type_called(const Cluster& cluster, const std::string& name) {
  for (std::size_t i = 0; i < cluster.gpu_types().size(); ++i) {
    if (cluster.gpu_types()[GpuTypeId(i)].name == name) return GpuTypeId(i);
  }
  return GpuTypeId();
}

struct Costs {
  explicit Costs(const std::string& cluster_name, int layers = 2)
      : graph(toy::chain(layers)),
        cluster(toy::sample_cluster(cluster_name)),
        cost(make_analytic_cost_model(graph, cluster)) {}
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const CostModel> cost;
};

std::vector<DeviceId> all_devices(const Cluster& cluster) {
  std::vector<DeviceId> devices;
  for (std::size_t i = 0; i < cluster.device_count(); ++i) devices.push_back(DeviceId(i));
  return devices;
}

TEST(Compute, IsTheRooflineOfTheOp) {
  const Costs s("tag-testbed");
  const OpId matmul = s.graph->find_op("m0");
  const Work& work = s.graph->op(matmul).work;
  ASSERT_GT(work.flops, 0);
  const GpuTypeId ti = type_called(*s.cluster, "GTX-1080-Ti");
  // Ramps: what a large kernel would do of its half sizes at the reference rates.
  const double compute = 4e7 / (10e12 * 0.75) + work.flops / (11.3e12 * 0.75);
  const double memory =
      1e6 / (500e9 * 0.75) +
      static_cast<double>(work.batch_bytes.value + work.fixed_bytes.value) / (484e9 * 0.75);
  const double expected = 5e-6 * work.kernels + std::max(compute, memory);
  EXPECT_NEAR(to_seconds(s.cost->compute(matmul, ti, 64)), expected, 2e-9);
}

TEST(Compute, MatrixProductsUseTf32WhereTheGpuHasIt) {
  const Costs s("mixed-a100-l40s");
  const OpId matmul = s.graph->find_op("m0");
  const Work& work = s.graph->op(matmul).work;
  const GpuTypeId a100 = type_called(*s.cluster, "A100-SXM4-80GB");
  const double compute = 4e7 / (10e12 * 0.75) + work.flops / (156e12 * 0.60);
  const double bandwidth = s.cluster->gpu_types()[a100].memory_bandwidth * 0.75;
  const double memory =
      1e6 / (500e9 * 0.75) +
      static_cast<double>(work.batch_bytes.value + work.fixed_bytes.value) / bandwidth;
  const double expected = 3.5e-6 * work.kernels + std::max(compute, memory);
  EXPECT_NEAR(to_seconds(s.cost->compute(matmul, a100, 64)), expected, 2e-9);
}

TEST(Compute, ViewsAreFreeAndNothingElseIs) {
  const Costs s("tag-testbed");
  for (std::size_t op = 0; op < s.graph->op_count(); ++op) {
    for (std::size_t type = 0; type < s.cluster->gpu_types().size(); ++type) {
      const Nanos time = s.cost->compute(OpId(op), GpuTypeId(type), 1);
      if (s.graph->op(OpId(op)).view) {
        EXPECT_EQ(time, Nanos(0));
      } else {
        EXPECT_GT(time, Nanos(0));
      }
    }
  }
}

TEST(Compute, IsMonotoneAndSubadditiveInSamples) {
  const Costs s("tag-testbed");
  EXPECT_TRUE(rc::check([&] {
    const auto op = OpId(*rc::gen::inRange<std::size_t>(0, s.graph->op_count()));
    const auto type = GpuTypeId(*rc::gen::inRange<std::size_t>(0, s.cluster->gpu_types().size()));
    const auto a = *rc::gen::inRange<std::int64_t>(1, 64),
               b = *rc::gen::inRange<std::int64_t>(1, 64);
    const auto time = [&](std::int64_t n) { return s.cost->compute(op, type, n); };
    RC_ASSERT(time(std::min(a, b)) <= time(std::max(a, b)));
    RC_ASSERT(time(a + b) <= time(a) + time(b));  // splitting never saves work
  }));
}

TEST(Compute, FasterGpuTakesLessTime) {
  const Costs s("tag-testbed");
  const OpId matmul = s.graph->find_op("m1");
  EXPECT_LT(s.cost->compute(matmul, type_called(*s.cluster, "V100-SXM2-32GB"), 64),
            s.cost->compute(matmul, type_called(*s.cluster, "P100-PCIe-16GB"), 64));
}

TEST(LocalMove, GrowsWithBytes) {
  const Costs s("tag-testbed");
  EXPECT_EQ(s.cost->local_move(GpuTypeId(0), Bytes(0)), Nanos(5000));
  EXPECT_LT(s.cost->local_move(GpuTypeId(0), Bytes(1 << 20)),
            s.cost->local_move(GpuTypeId(0), Bytes(1 << 24)));
}

TEST(Transfer, IsLatencyPlusBytesOverBandwidth) {
  const Costs s("tag-testbed");
  const Path& path = s.cluster->path(DeviceId(0), DeviceId(1));
  EXPECT_EQ(s.cost->transfer(path, Bytes(150'000'000)), Nanos(4000 + 1'000'000));
  EXPECT_EQ(s.cost->transfer(path, Bytes(0)), Nanos(4000));
  EXPECT_EQ(s.cost->transfer(s.cluster->path(DeviceId(0), DeviceId(0)), Bytes(1 << 30)), Nanos(0));
}

TEST(Transfer, IsMonotoneInBytes) {
  const Costs s("tag-cloud");
  EXPECT_TRUE(rc::check([&] {
    const auto device = [&] {
      return DeviceId(*rc::gen::inRange<std::size_t>(0, s.cluster->device_count()));
    };
    const Path& path = s.cluster->path(device(), device());
    const auto a = *rc::gen::inRange<std::int64_t>(0, 1LL << 40);
    const auto b = *rc::gen::inRange<std::int64_t>(0, 1LL << 40);
    RC_ASSERT(s.cost->transfer(path, Bytes(std::min(a, b))) <=
              s.cost->transfer(path, Bytes(std::max(a, b))));
  }));
}

TEST(AllReduce, ClosedFormInsideAMachine) {
  const Costs s("fastt-8xv100");
  for (std::size_t n = 2; n <= 8; ++n) {
    const std::vector<DeviceId> all = all_devices(*s.cluster);
    const std::span<const DeviceId> devices(all.data(), n);
    const CollectiveCost cost =
        s.cost->collective(Collective::AllReduce, devices, Bytes(840'000'000));
    const double seconds =
        2.0 * static_cast<double>(n - 1) / static_cast<double>(n) * 840e6 / 150e9;
    const auto latencies = static_cast<std::int64_t>(2 * (n - 1) * 4000);
    EXPECT_NEAR(static_cast<double>(cost.duration.value),
                seconds * 1e9 + static_cast<double>(latencies), 2);
    EXPECT_EQ(cost.links.size(), 2 * n);  // every port, both directions
  }
}

TEST(AllReduce, HopsThatShareASwitchDivideItsBandwidth) {
  const auto graph = toy::chain(1);
  const auto cluster = std::make_shared<Cluster>(parse_cluster(
      R"({"format": "stratoscope-cluster", "version": 1, "name": "shared", "machines": [
           {"name": "m", "count": 4, "gpus": [{"type": "T4"}], "nic": {"bandwidth_GBps": 10}}],
          "network": {"bandwidth_GBps": 20}})",
      "c.json", toy::catalogue()));
  const auto cost = make_analytic_cost_model(graph, cluster);
  const CollectiveCost four =
      cost->collective(Collective::AllReduce, all_devices(*cluster), Bytes(1'000'000'000));
  EXPECT_EQ(four.duration, Nanos(300'000'000));  // 1.5 GB over 20 / 4 GB/s
  EXPECT_EQ(four.links.size(), 9u);
  const std::vector<DeviceId> two = {DeviceId(1), DeviceId(2)};
  EXPECT_EQ(cost->collective(Collective::AllReduce, two, Bytes(1'000'000'000)).duration,
            Nanos(100'000'000));
}

TEST(Collectives, VolumesComparedWithAllReduce) {
  const Costs s("fastt-8xv100");
  const std::vector<DeviceId> devices = all_devices(*s.cluster);
  const auto time = [&](Collective kind) {
    return static_cast<double>(s.cost->collective(kind, devices, Bytes(1 << 30)).duration.value);
  };
  const double all_reduce = time(Collective::AllReduce);
  EXPECT_NEAR(time(Collective::AllGather), all_reduce / 2, 2);
  EXPECT_NEAR(time(Collective::ReduceScatter), all_reduce / 2, 2);
  EXPECT_GT(time(Collective::Broadcast), all_reduce / 2);
  EXPECT_LT(time(Collective::Reduce), all_reduce);
}

TEST(Collectives, OneMemberIsABug) {
  const Costs s("fastt-8xv100");
  const std::vector<DeviceId> one = {DeviceId(0)};
  EXPECT_THROW(s.cost->collective(Collective::AllReduce, one, Bytes(1)), InvariantError);
}

TEST(MeanOpTimes, WeighTypesByTheirDevices) {
  const Costs s("tag-testbed");  // 4 V100, 8 GTX 1080 Ti, 4 P100
  const std::vector<Nanos> times = mean_op_times(*s.graph, *s.cluster, *s.cost);
  ASSERT_EQ(times.size(), s.graph->op_count());
  const OpId op = s.graph->find_op("m0");
  const auto time = [&](std::size_t type) { return s.cost->compute(op, GpuTypeId(type), 64); };
  EXPECT_EQ(times[op.index()], (time(0) * 4 + time(1) * 8 + time(2) * 4) / 16);
}

TEST(CostDigest, DependsOnGraphAndCluster) {
  const Costs a("tag-testbed"), same("tag-testbed"), cluster("tag-cloud"), graph("tag-testbed", 3);
  EXPECT_EQ(a.cost->digest(), same.cost->digest());
  EXPECT_NE(a.cost->digest(), cluster.cost->digest());
  EXPECT_NE(a.cost->digest(), graph.cost->digest());
}

}  // namespace
}  // namespace strato
