// The cost model made from a profile: where each cost comes from, and what is said about it.
#include "core/cost/model/measured_cost_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "core/base/random.h"
#include "core/cost/analytic/analytic_cost_model.h"
#include "core/cost/value/calibration.h"
#include "core/cost/value/cost_model.h"
#include "core/cost/value/profile.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/train/training_graph.h"
#include "tests/core/cost/random_graph.h"
#include "tests/core/cost/toy.h"

namespace strato {
namespace {

constexpr const char* kV100 = "V100-SXM2-32GB";

struct Measured {
  explicit Measured(const Profile& profile, const std::string& cluster_name = "tag-testbed",
                    std::shared_ptr<const Graph> given = toy::chain(4))
      : graph(std::move(given)),
        cluster(toy::sample_cluster(cluster_name)),
        analytic(make_analytic_cost_model(graph, cluster)) {
    CostSources sources;
    sources.profile = std::make_shared<Profile>(profile);
    cost = make_cost_model(graph, cluster, sources, &warnings);
  }

  GpuTypeId gpu(const std::string& name) const {
    for (std::size_t i = 0; i < cluster->gpu_types().size(); ++i) {
      if (cluster->gpu_types()[GpuTypeId(i)].name == name) return GpuTypeId(i);
    }
    return GpuTypeId();
  }
  bool warned(const std::string& part) const {
    return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& text) {
      return text.find(part) != std::string::npos;
    });
  }

  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const CostModel> analytic, cost;
  std::vector<std::string> warnings;
};

OpMeasurement measured_at(std::int64_t samples, std::int64_t time, std::int64_t spread = 0) {
  return {samples, Nanos(time), Nanos(spread), 30};
}

std::string matmul() { return "MatMul(float32[B,1024],float32[1024,1024])->(float32[B,1024])"; }

Profile profile_of(std::vector<OpMeasurement> points, const std::string& gpu = kV100) {
  Profile profile;
  profile.ops.push_back({matmul(), gpu, std::move(points)});
  return profile;
}

TEST(MeasuredCosts, OfNoProfileOrAnEmptyOneAreAnalytic) {
  const Measured s{Profile()};
  EXPECT_EQ(s.cost->digest(), s.analytic->digest());
  EXPECT_TRUE(s.warnings.empty());
}

TEST(MeasuredCosts, AreTheMediansWhereMeasured) {
  const Measured s(profile_of({measured_at(8, 111'111), measured_at(64, 777'777, 7'777)}));
  const OpId op = s.graph->find_op("m2");
  EXPECT_EQ(s.cost->compute(op, s.gpu(kV100), 8), Nanos(111'111));
  EXPECT_EQ(s.cost->compute(op, s.gpu(kV100), 64), Nanos(777'777));
  const Estimate estimate = s.cost->explain_compute(op, s.gpu(kV100), 64);
  EXPECT_EQ(estimate.source, CostSource::Profile);
  EXPECT_NEAR(estimate.error, 0.0148, 0.0002);
  EXPECT_NE(estimate.detail.find("64 samples on V100-SXM2-32GB"), std::string::npos)
      << estimate.detail;
}

TEST(MeasuredCosts, AreFittedBetweenAndBeyondMeasurements) {
  const Measured s(
      profile_of({measured_at(8, 100'000), measured_at(16, 180'000), measured_at(32, 340'000)}));
  const OpId op = s.graph->find_op("m0");
  const GpuTypeId gpu = s.gpu(kV100);
  EXPECT_EQ(s.cost->compute(op, gpu, 24), Nanos(260'000));
  EXPECT_EQ(s.cost->compute(op, gpu, 64), Nanos(660'000));
  EXPECT_EQ(s.cost->compute(op, gpu, 1), Nanos(30'000));
  const Estimate between = s.cost->explain_compute(op, gpu, 24);
  const Estimate beyond = s.cost->explain_compute(op, gpu, 64);
  EXPECT_EQ(between.source, CostSource::Fit);
  EXPECT_EQ(beyond.source, CostSource::Fit);
  EXPECT_GT(beyond.error, between.error);
  EXPECT_NE(beyond.detail.find("beyond"), std::string::npos);
}

// Sums of a step's costs stay in range, whatever was measured.
TEST(MeasuredCosts, BeyondSteepMeasurementsStopAtElevenDays) {
  const Measured s(profile_of({measured_at(1, 1), measured_at(2, 900'000'000'000'000)}),
                   "tag-testbed", toy::chain(1, 1'000'000));
  EXPECT_EQ(s.cost->compute(s.graph->find_op("m0"), s.gpu(kV100), 1'000'000),
            Nanos(1'000'000'000'000'000));
}

TEST(MeasuredCosts, ScaleTheRooflineThroughASinglePoint) {
  const Measured s(profile_of({measured_at(32, 123'457)}));
  const OpId op = s.graph->find_op("m0");
  const GpuTypeId gpu = s.gpu(kV100);
  EXPECT_EQ(s.cost->compute(op, gpu, 32), Nanos(123'457));
  EXPECT_EQ(s.cost->explain_compute(op, gpu, 32).source, CostSource::Profile);
  const double shape = s.analytic->compute(op, gpu, 64) / s.analytic->compute(op, gpu, 32);
  EXPECT_NEAR(static_cast<double>(s.cost->compute(op, gpu, 64).value), 123'457 * shape, 1);
  EXPECT_EQ(s.cost->explain_compute(op, gpu, 64).source, CostSource::Fit);
}

// A disturbed measurement leaves one size: that does not make the op's time the same at all sizes.
TEST(MeasuredCosts, ScaleTheRooflineThroughTheOnlyUndisturbedPoint) {
  const Measured s(profile_of({measured_at(8, 200'000), measured_at(32, 123'457)}));
  const OpId op = s.graph->find_op("m0");
  const GpuTypeId gpu = s.gpu(kV100);
  EXPECT_EQ(s.cost->compute(op, gpu, 32), Nanos(123'457));
  EXPECT_EQ(s.cost->explain_compute(op, gpu, 32).source, CostSource::Profile);
  const double shape = s.analytic->compute(op, gpu, 64) / s.analytic->compute(op, gpu, 32);
  EXPECT_GT(shape, 1);
  EXPECT_NEAR(static_cast<double>(s.cost->compute(op, gpu, 64).value), 123'457 * shape, 1);
}

TEST(MeasuredCosts, AreAnalyticWhereNothingWasMeasured) {
  const Measured s(profile_of({measured_at(32, 123'457)}));
  const OpId relu = s.graph->find_op("r0"), matmul = s.graph->find_op("m0");
  EXPECT_EQ(s.cost->compute(relu, s.gpu(kV100), 64), s.analytic->compute(relu, s.gpu(kV100), 64));
  const GpuTypeId other = s.gpu("GTX-1080-Ti");
  EXPECT_EQ(s.cost->compute(matmul, other, 64), s.analytic->compute(matmul, other, 64));
  EXPECT_EQ(s.cost->explain_compute(matmul, other, 64).source, CostSource::Analytic);
  EXPECT_EQ(s.cost->explain_compute(matmul, other, 64).error,
            Calibration::standard().relative_error);
}

// Chains of widths 256 to 2048, in one graph.
std::shared_ptr<const Graph> widths() {
  GraphBuilder builder("widths", 64);
  const auto tensor = [&](std::string name, TensorRole role, Shape shape) {
    Tensor result;
    result.name = std::move(name);
    result.role = role;
    result.shape = std::move(shape);
    return builder.add_tensor(std::move(result));
  };
  for (std::int64_t width = 256; width <= 2048; width *= 2) {
    const std::string n = std::to_string(width);
    const TensorId in = tensor("x" + n, TensorRole::Input, {64, width});
    const TensorId weight = tensor("w" + n, TensorRole::Parameter, {width, width});
    Op op;
    op.name = "m" + n;
    op.type = "MatMul";
    op.inputs = {in, weight};
    op.outputs = {tensor("y" + n, TensorRole::Activation, {64, width})};
    builder.add_op(std::move(op));
  }
  return std::make_shared<Graph>(std::move(builder).build());
}

TEST(MeasuredCosts, ScaleTheRestOfAFamilyByItsMedianRatio) {
  const auto graph = widths();
  const Measured plain(Profile(), "tag-testbed", graph);
  const GpuTypeId gpu = plain.gpu(kV100);
  Profile profile;
  const double ratios[] = {1.5, 2, 4};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto time = static_cast<double>(plain.analytic->compute(OpId(i), gpu, 64).value);
    profile.ops.push_back({op_signature(*graph, OpId(i)),
                           kV100,
                           {measured_at(64, static_cast<std::int64_t>(time * ratios[i]))}});
  }
  const Measured s(profile, "tag-testbed", graph);
  const double ratio =
      s.cost->compute(OpId(3), gpu, 64) / plain.analytic->compute(OpId(3), gpu, 64);
  EXPECT_NEAR(ratio, 2, 0.001);
  const Estimate estimate = s.cost->explain_compute(OpId(3), gpu, 64);
  EXPECT_EQ(estimate.source, CostSource::Analytic);
  EXPECT_NE(estimate.detail.find("median of 3 measured"), std::string::npos) << estimate.detail;
  EXPECT_GT(estimate.error, 0.25);
  profile.ops.pop_back();  // two are not enough
  const Measured two(profile, "tag-testbed", graph);
  EXPECT_EQ(two.cost->compute(OpId(3), gpu, 64), plain.analytic->compute(OpId(3), gpu, 64));
}

TEST(MeasuredCosts, KnowAGpuByItsAliases) {
  const Measured s(profile_of({measured_at(64, 123'456)}, "v100 32gb"));
  EXPECT_EQ(s.cost->compute(s.graph->find_op("m0"), s.gpu(kV100), 64), Nanos(123'456));
}

TEST(MeasuredCosts, WarnOfAnotherGpu) {
  const Measured s(profile_of({measured_at(64, 1000)}, "H100"));
  EXPECT_TRUE(s.warned("H100"));
  EXPECT_TRUE(s.warned(kV100));
  const OpId op = s.graph->find_op("m0");
  EXPECT_EQ(s.cost->compute(op, s.gpu(kV100), 64), s.analytic->compute(op, s.gpu(kV100), 64));
}

TEST(MeasuredCosts, WarnOfOtherSignaturesAndOfWhatIsMissing) {
  Profile profile = profile_of({measured_at(64, 1000)});
  profile.ops.push_back({"Gelu(float32[B,7])->(float32[B,7])", kV100, {measured_at(64, 1000)}});
  const Measured s(profile);
  EXPECT_TRUE(s.warned("1 of the profile's 2 measured kinds of op are not in chain: Gelu"));
  EXPECT_TRUE(s.warned("1 of 2 kinds of op in chain were not measured on V100-SXM2-32GB"));
}

TEST(MeasuredCosts, ShareWhatOneModelMeasuredAtAnyBatchSize) {
  const Measured s(profile_of({measured_at(8, 100'000), measured_at(16, 180'000)}), "tag-testbed",
                   toy::chain(2, 256));
  EXPECT_EQ(s.cost->compute(s.graph->find_op("m1"), s.gpu(kV100), 16), Nanos(180'000));
}

TEST(MeasuredCosts, ViewsStayFree) {
  const auto graph = toy::chain(1);
  Profile profile;
  profile.ops.push_back({op_signature(*graph, graph->find_op("v")),
                         kV100,
                         {measured_at(1, 1000), measured_at(64, 5000)}});
  const Measured s(profile, "tag-testbed", graph);
  EXPECT_EQ(s.cost->compute(graph->find_op("v"), s.gpu(kV100), 64), Nanos(0));
}

TEST(MeasuredCosts, OfOpsThatDoNotFollowTheBatchAreOneLevel) {
  const auto graph = std::make_shared<Graph>(make_training_graph(*toy::chain(1), Optimizer::Adam));
  OpId update;
  for (std::size_t i = 0; i < graph->op_count(); ++i) {
    if (graph->op(OpId(i)).phase == Phase::Update) update = OpId(i);
  }
  ASSERT_TRUE(update.valid());
  ASSERT_FALSE(follows_batch(*graph, update));
  Profile profile;
  profile.ops.push_back(
      {op_signature(*graph, update), kV100, {measured_at(8, 1000), measured_at(64, 3000)}});
  const Measured s(profile, "tag-testbed", graph);
  EXPECT_EQ(s.cost->compute(update, s.gpu(kV100), 64), Nanos(2000));
  EXPECT_EQ(s.cost->explain_compute(update, s.gpu(kV100), 64).source, CostSource::Profile);
}

TEST(MeasuredCosts, DigestCoversTheProfile) {
  const Measured a(profile_of({measured_at(8, 1000)})), same(profile_of({measured_at(8, 1000)}));
  const Measured other(profile_of({measured_at(8, 1001)}));
  EXPECT_EQ(a.cost->digest(), same.cost->digest());
  EXPECT_NE(a.cost->digest(), other.cost->digest());
  EXPECT_NE(a.cost->digest(), a.analytic->digest());
}

// Random measurements of random graphs: explanations tell the same times, all of them positive and
// never falling with more samples.
TEST(MeasuredCosts, AreWhatTheirExplanationsSay) {
  EXPECT_TRUE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    Random random(seed);
    const auto graph = std::make_shared<Graph>(toy::random_graph(seed, 32));
    Profile profile;
    for (std::size_t i = 0; i < graph->op_count(); ++i) {
      OpProfile op{op_signature(*graph, OpId(i)), random.below(2) == 0 ? kV100 : "GTX-1080-Ti", {}};
      for (std::uint64_t j = 1 + random.below(4); j > 0; --j) {
        op.measurements.push_back(
            measured_at(static_cast<std::int64_t>(1 + random.below(32)),
                        static_cast<std::int64_t>(1 + random.below(1'000'000)),
                        static_cast<std::int64_t>(random.below(1000))));
      }
      if (random.below(3) > 0) profile.ops.push_back(std::move(op));
    }
    const Measured s(profile, "tag-testbed", graph);
    for (std::size_t i = 0; i < graph->op_count(); ++i) {
      const auto gpu = GpuTypeId(random.below(s.cluster->gpu_types().size()));
      Nanos last;
      for (const std::int64_t samples : {1, 2, 5, 16, 31, 32}) {
        const Nanos time = s.cost->compute(OpId(i), gpu, samples);
        const Estimate estimate = s.cost->explain_compute(OpId(i), gpu, samples);
        RC_ASSERT(estimate.time == time);
        RC_ASSERT(estimate.error >= 0 && estimate.error < 100);
        RC_ASSERT(!estimate.detail.empty());
        RC_ASSERT(time > Nanos(0) || graph->op(OpId(i)).view);
        RC_ASSERT(time >= last);
        last = time;
      }
    }
  }));
}

Profile transfers(std::vector<TransferProfile> entries) {
  Profile profile;
  profile.transfers = std::move(entries);
  return profile;
}

std::vector<SizedMeasurement> line(std::int64_t latency, std::int64_t per_kilobyte) {
  std::vector<SizedMeasurement> points;
  for (std::int64_t kilobytes = 1; kilobytes <= 1 << 20; kilobytes *= 2) {
    points.push_back({Bytes(kilobytes * 1024), Nanos(latency + per_kilobyte * kilobytes), {}, 5});
  }
  return points;
}

constexpr std::int64_t kMega = 1024 * 1024;

TEST(MeasuredTransfers, OfAPairThenTheWayBackThenItsKindThenAnalytic) {
  const Measured s(
      transfers({{"v100:0", "v100:1", line(1000, 100)},
                 {"V100", "V100", line(1, 1)},
                 {"v100-sxm2-32gb", "P100-PCIe-16GB/other machine", line(7000, 700)}}));
  const auto time = [&](const char* from, const char* to) {
    const Path& path = s.cluster->path(s.cluster->find_device(from), s.cluster->find_device(to));
    const Nanos result = s.cost->transfer(path, Bytes(kMega));
    EXPECT_EQ(s.cost->explain_transfer(path, Bytes(kMega)).time, result);
    return result.value;
  };
  EXPECT_EQ(time("v100:0", "v100:1"), 1000 + 100 * 1024);
  EXPECT_EQ(time("v100:1", "v100:0"), 1000 + 100 * 1024);
  EXPECT_EQ(time("v100:2", "v100:3"), 1000 + 100 * 1024);  // of the same kind
  EXPECT_TRUE(s.warned("from V100 to V100"));
  const Device& p100 = *std::find_if(
      s.cluster->devices().begin(), s.cluster->devices().end(),
      [&](const Device& device) { return s.cluster->gpu_types()[device.type].name[0] == 'P'; });
  EXPECT_EQ(time("v100:0", p100.name.c_str()), 7000 + 700 * 1024);
  const Path& back =
      s.cluster->path(s.cluster->find_device(p100.name), s.cluster->find_device("v100:0"));
  EXPECT_EQ(s.cost->transfer(back, Bytes(kMega)), s.analytic->transfer(back, Bytes(kMega)));
  EXPECT_EQ(s.cost->explain_transfer(back, Bytes(kMega)).source, CostSource::Analytic);
}

TEST(MeasuredTransfers, AreFoundForACopyOfAPath) {
  const Measured s(transfers({{"v100:0", "v100:1", line(1000, 100)}}));
  const Path copy = s.cluster->path(DeviceId(0), DeviceId(1));
  EXPECT_EQ(s.cost->transfer(copy, Bytes(kMega)), Nanos(1000 + 100 * 1024));
  EXPECT_EQ(s.cost->transfer(s.cluster->path(DeviceId(0), DeviceId(0)), Bytes(kMega)), Nanos(0));
}

TEST(MeasuredTransfers, BeyondTheMeasurementsAreNoFasterThanTheLinks) {
  // Two small sizes that took equally long say nothing of bandwidth.
  const Measured s(transfers(
      {{"v100:0", "v100:1", {{Bytes(1), Nanos(9000), {}, 5}, {Bytes(1024), Nanos(9000), {}, 5}}}}));
  const Path& path = s.cluster->path(DeviceId(0), DeviceId(1));
  EXPECT_GE(to_seconds(s.cost->transfer(path, Bytes(1 << 30))), (1 << 30) / path.bandwidth * 0.99);
}

TEST(MeasuredTransfers, WarnOfDevicesThatAreNotThere) {
  const Measured s(transfers({{"nowhere:0", "v100:1", line(1, 1)}}));
  EXPECT_TRUE(s.warned("nowhere:0"));
}

// What a framework does is no cost, and stays what the calibration says.
TEST(MeasuredCosts, KeepWhatTheFrameworkDoes) {
  Calibration calibration = Calibration::standard();
  calibration.host_awaits_transfers = calibration.fuses_pointwise = true;
  calibration.host_kernel_us = 5;
  CostSources sources;
  sources.profile = std::make_shared<Profile>(profile_of({measured_at(64, 1000)}));
  sources.calibration = std::make_shared<Calibration>(calibration);
  const auto graph = toy::chain(4);
  std::vector<std::string> warnings;
  const auto cost = make_cost_model(graph, toy::sample_cluster("tag-testbed"), sources, &warnings);
  EXPECT_TRUE(cost->issue_after_transfers());
  EXPECT_EQ(cost->issue_local_move(), Nanos(5000));
}

TEST(MeasuredCollectives, OfExactlyTheseMembers) {
  Profile profile;
  profile.collectives.push_back(
      {Collective::AllReduce, {"v100:2", "v100:0", "v100:1"}, line(30'000, 500)});
  profile.collectives.push_back({Collective::AllReduce, {"v100:0", "x:7"}, line(1, 1)});
  const Measured s(profile);
  const std::vector<DeviceId> three = {DeviceId(0), DeviceId(1), DeviceId(2)};
  const std::vector<DeviceId> two = {DeviceId(0), DeviceId(1)};
  const CollectiveCost cost = s.cost->collective(Collective::AllReduce, three, Bytes(kMega));
  const CollectiveCost analytic =
      s.analytic->collective(Collective::AllReduce, three, Bytes(kMega));
  EXPECT_EQ(cost.duration, Nanos(30'000 + 500 * 1024));
  EXPECT_EQ(cost.latency, Nanos(30'000));
  EXPECT_EQ(cost.links, analytic.links);
  EXPECT_EQ(s.cost->explain_collective(Collective::AllReduce, three, Bytes(kMega)).source,
            CostSource::Fit);
  for (const auto& [kind, members] :
       {std::pair(Collective::AllReduce, two), std::pair(Collective::AllGather, three)}) {
    EXPECT_EQ(s.cost->collective(kind, members, Bytes(kMega)).duration,
              s.analytic->collective(kind, members, Bytes(kMega)).duration);
  }
  EXPECT_TRUE(s.warned("x:7"));
}

}  // namespace
}  // namespace strato
